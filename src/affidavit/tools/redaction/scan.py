"""One text: a fast search for needles, then a close look at what it hits (T7).

Most of a log holds no needle at all, and `bytes.find` passes over it at more than a gigabyte a
second; a dozen regular expressions over every byte would cost a hundred times that.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from affidavit.tools.redaction.assigned import ASSIGNED_RULES
from affidavit.tools.redaction.commands import COMMAND_RULES
from affidavit.tools.redaction.headers import HEADER_RULES
from affidavit.tools.redaction.kubernetes import find_json_secrets, find_yaml_secrets
from affidavit.tools.redaction.marks import STRUCTURE, Span
from affidavit.tools.redaction.prefixes import CRYPT_NEEDLES, PREFIX_RULES
from affidavit.tools.redaction.shapes import SHAPE_RULES, Rule, Text, find_cards
from affidavit.tools.redaction.urls import URL_RULES

RULES: Final = (
    *ASSIGNED_RULES, *HEADER_RULES, *URL_RULES, *COMMAND_RULES, *PREFIX_RULES, *SHAPE_RULES,
)  # fmt: skip
"""Everything that is looked for, but for cards and Secrets, which have no needle."""


@dataclass(frozen=True, slots=True)
class Gate:
    """One pass over a text that says whether any of some needles can be there.

    The pattern begins with a letter that is rare in logs, so that the search runs at the speed of
    `memchr` and looks around only where that letter stands.
    """

    pattern: re.Pattern[bytes]
    needles: tuple[bytes, ...]


def _gate(pattern: bytes, needles: bytes) -> Gate:
    return Gate(re.compile(pattern), tuple(needles.split()))


GATES: Final[tuple[Gate, ...]] = (
    _gate(rb"p(?:ass|w)", b"pass pw"),
    _gate(
        rb"k(?:ey|ty[\"\\]|(?<=tok)en|(?<=cook)ie|(?<=[sr]k)(?:-|_live_|_test_)|ia(?<=akia)"
        rb"|r_pat_|(?<=nrak)-|(?<=webhook))",
        b'key kty" kty\\ token cookie sk- sk_live_ sk_test_ rk_live_ rk_test_ akia key- dckr_pat_'
        b" nrak- webhook age-secret-key-1",
    ),
    _gate(rb"cre[td]", b"secret cred"),
    _gate(
        rb"h(?:(?<=auth)[\"o:=]|(?<=_auth)|(?<=gh)[posur]_|f_|v[sbr]\.|(?<=wh)sec_"
        rb"|ooks\.slack\.com/|(?<=gith)ub_pat_|(?<=sh)p(?:at|ca|pa|ss)_)",
        b'authorization auth" auth: auth= _auth ghp_ gho_ ghs_ ghu_ ghr_ hf_ hvs. hvb. hvr.'
        b" whsec_ hooks.slack.com/ github_pat_ shpat_ shpca_ shppa_ shpss_",
    ),
    _gate(rb"b(?:earer|asic|egin(?<=-----begin))", b"bearer basic -----begin"),
    _gate(rb"sess(?:id|ion[_-]?id)", b"sessid sessionid session_id session-id"),
    _gate(
        rb"g(?:(?<=sig)(?:=|nature[=\"])|l(?:pat|rt|dt|ft|ptt|cbt|soat|agent)-|l(?:sa|c)_"
        rb"|(?<=sg)\.|ocspx-)",
        b'sig= signature= signature" glpat- glrt- gldt- glft- glptt- glcbt- glsoat- glagent-'
        b" glsa_ glc_ sg. gocspx-",
    ),
    _gate(rb"@", b"@ @tcp( @unix("),
    _gate(rb"%40", b"%40"),
    _gate(rb":(?:\\?/\\?/|aa|5432:|\*:)", rb":// :\/\/ :aa :5432: :*:"),
    _gate(rb"j(?<=eyj)", b"eyj"),
    _gate(rb"-----end", b"-----end"),
    _gate(rb"ls0tls1", b"ls0tls1crudjti"),
    _gate(rb"za(?<=aiza)", b"aiza"),
    _gate(rb"asia", b"asia"),
    _gate(
        rb"x(?:ox(?:[abpsrcd]-|e\.)|app-|ff(?<=atatt3xff))",
        b"xoxb- xoxp- xoxa- xoxs- xoxr- xoxc- xoxd- xoxe. xapp- atatt3xff",
    ),
    _gate(rb"y(?:(?<=py)pi-age|a29\.|s_(?<=sntrys_))", b"pypi-age ya29. sntrys_"),
    _gate(rb"_v1_", b"dop_v1_"),
    _gate(rb"m_(?<=npm_)", b"npm_"),
    _gate(rb"lin_api_", b"lin_api_"),
    _gate(rb"q~(?<=[78]q~)", b"8q~ 7q~"),
    _gate(
        rb"v[1-4]\.(?:local|public)\.",
        b"v1.local. v2.local. v3.local. v4.local. v1.public. v2.public. v3.public. v4.public.",
    ),
    _gate(rb"\$(?:2[abxy]|apr1|[156y])\$|\$(?:argon2|scrypt\$|pbkdf2)", b" ".join(CRYPT_NEEDLES)),
    _gate(rb"\?", b"?"),
    _gate(
        rb"\xe5(?:\xaf\x86|\x8f\xa3)",
        b"\xe5\xaf\x86\xe7\xa0\x81 \xe5\xaf\x86\xe9\x92\xa5 \xe5\x8f\xa3\xe4\xbb\xa4",
    ),
    _gate(rb"fied(?<=identified)", b"identified"),
    Gate(
        re.compile(rb"-(?:(?<=[ \"]-)(?:[up]|a[ \"])|(?<=--)(?:proxy-)?user)"),
        (b" -u", b'"-u', b" -p", b'"-p', b" -a ", b'"-a"', b"--user", b"--proxy-user"),
    ),
    Gate(re.compile(rb"h\" \"(?<=\"auth\" \")"), (b'"auth" "',)),
)

_RULES_OF: Final = {
    gate: tuple(rule for rule in RULES if rule.needle in gate.needles) for gate in GATES
}


def live_rules(low: bytes) -> tuple[Rule, ...]:
    """The rules whose needle is in a text (in lower case): all that any part of it may need.

    JSON may write a slash as `\\/`; its needles count as there when that is.
    """
    slashes = b"\\/" in low
    return tuple(
        rule
        for gate, rules in _RULES_OF.items()
        if gate.pattern.search(low)
        for rule in rules
        if rule.needle in low or (slashes and b"/" in rule.needle)
    )


@dataclass(frozen=True, slots=True)
class Search:
    """What the parts of one text can need: rules, and whether cards or kinds can be there."""

    rules: tuple[Rule, ...]
    needles: tuple[str, ...]
    cards: bool
    kinds: bool

    @classmethod
    def of(cls, raw: bytes) -> Search:
        """What a text can need, by one look at the whole of it."""
        low = raw.lower()
        rules = live_rules(low)
        cards = next(find_cards(raw), None) is not None  # none in the whole is none in a part
        return cls(rules, _letters(rules), cards, may_name_kinds(low))

    def passes_over(self, text: str) -> bool:
        """Whether a part holds nothing to look at: most texts of a document."""
        if self.kinds or self.cards:
            return False
        low = text.lower()  # more letters have a lower case here than in bytes: never less is seen
        for needle in self.needles:  # noqa: SIM110 - a generator costs more than the search
            if needle in low:
                return False
        return True


def _letters(rules: tuple[Rule, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(rule.needle.decode("utf-8") for rule in rules))


EVERYTHING: Final = Search(RULES, _letters(RULES), cards=True, kinds=True)
"""For a text of which nothing is known."""


def find_spans(raw: bytes, search: Search = EVERYTHING) -> list[Span]:
    """Every secret of a text by the rules given; overlaps are left in.

    An empty span of the kind `STRUCTURE` says that only a document's structure can tell more.
    """
    low = raw.lower()
    text = Text(raw, low)
    spans = [span for rule in search.rules if rule.needle in low for span in _hits(text, rule)]
    if search.cards:
        spans += find_cards(raw)
    if search.kinds and may_name_kinds(low):
        spans += find_yaml_secrets(text)
        spans += find_json_secrets(text)
    return [span for span in spans if span.end > span.start or span.kind == STRUCTURE]


def may_name_kinds(low: bytes) -> bool:
    """Whether a text, in lower case, may hold an object of Kubernetes."""
    return b"kind" in low or b"apiversion" in low


def _hits(text: Text, rule: Rule) -> Iterator[Span]:
    at = _next(text.low, rule, 0)
    while at >= 0:
        done = at + len(rule.needle)
        for span in rule.look(text, at):
            done = max(done, span.end)
            yield span
        at = _next(text.low, rule, done)


def _next(low: bytes, rule: Rule, start: int) -> int:
    """The next place from a start on that the rule has to look at; -1 where there is none."""
    if rule.hits is None:
        return low.find(rule.needle, start)
    found = rule.hits.search(low, start)
    return found.start() if found else -1
