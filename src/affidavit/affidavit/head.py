"""The head of a run: the few facts that are signed, and by them everything else (A4, A5; pure)

Whoever believes the key believes these facts; the rest of the file follows from them by digest:
the journal's last line (and by the chain every line before it), the content of the file, and the
head that the tenant's run before this one was sealed with.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import Field, StringConstraints, ValidationError

from affidavit.contract.record import Record
from affidavit.contract.states import Provenance
from affidavit.core.canonical import canonical_json, digest

HexDigest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


NUMBER_MAX: Final = 10**15 - 1
"""No tenant has so many runs; and it is an integer in every language."""


class Head(Record):
    """What is signed. Digests are lower-case SHA-256 hex, times microseconds since 1970 UTC.

    `number` and `previous` are the run's place among its tenant's sealed runs (`SealedHead`);
    `content` covers the file but its signature; `question` is over its canonical JSON. `catalogue`,
    `policy` and `version` say which tools, which guards and rules, and which code were at work.
    """

    format: Literal["affidavit/1"] = "affidavit/1"
    run_id: str
    tenant: str
    number: int = Field(ge=1, le=NUMBER_MAX)
    previous: HexDigest
    lines: int = Field(ge=1)
    last_line: HexDigest
    content: HexDigest
    release: HexDigest
    provenance: Provenance
    question: HexDigest
    incident: str | None
    catalogue: HexDigest
    policy: HexDigest
    version: str
    sealed_us: int = Field(ge=0)

    def payload(self) -> bytes:
        """The canonical bytes that are signed."""
        return canonical_json(self.model_dump(mode="json"))

    def digest(self) -> str:
        """The digest by which the tenant's next head names this one."""
        return digest(self.payload())


def read_head(payload: bytes) -> Head:
    """The head in a payload. Raises ValueError for anything that is not its own canonical bytes."""
    try:
        head = Head.model_validate_json(payload)
    except ValidationError as error:
        field = ".".join(str(part) for part in error.errors()[0]["loc"])
        raise ValueError(f"the signed head has no proper {field or 'form'}") from None
    if head.payload() != payload:
        raise ValueError("the signed head is not its own canonical bytes")
    return head


def question_digest(question: str) -> str:
    """The digest of a question: of its canonical JSON, the quotation marks included."""
    return digest(canonical_json(question))
