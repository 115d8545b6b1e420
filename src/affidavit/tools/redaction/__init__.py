"""Secrets leave before anybody reads: of a raw response, a text, a JSON value (T7).

Redaction stands between a back end's answer and everything else: the raw artifact, the projection,
the model, the stream, the report, the file. It is pure and deterministic, so that a replay gives
the same bytes.

    marks       what a mask looks like, and which secret has which
    hints       what a key's name says of its value, and whether a value looks like a secret
    shapes      secrets that are known by their own shape: keys of clouds, JWT, PEM, mail, cards
    assigned    secrets that are known by the name, header or URL beside them
    kubernetes  the values of Kubernetes Secrets in YAML, and in JSON that cannot be parsed
    scan        one text: a fast search for needles, a close look at what it hits
    literals    the bytes of a JSON document, literal by literal
    objects     what an object of JSON says of its own members
    documents   JSON, structurally and in place; the three doors
    names       an option beside all this: names masked, with a way back for whoever has the store

Deliberately absent: entropy without a hint (pod names, trace ids, hashes, digests and uuids are
what a diagnosis consists of), and any way back from a mask to its secret.
"""

from affidavit.contract.masking import MASK_PATTERN
from affidavit.tools.redaction.documents import (
    Redacted,
    RedactedJson,
    redact_bytes,
    redact_json,
    redact_text,
)
from affidavit.tools.redaction.marks import Mask

__all__ = (
    "MASK_PATTERN",
    "Mask",
    "Redacted",
    "RedactedJson",
    "redact_bytes",
    "redact_json",
    "redact_text",
)
