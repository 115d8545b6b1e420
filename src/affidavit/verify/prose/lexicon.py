"""General English, by what a word does in a sentence. No word here names a product or a fault.

A word that stands in none of these sets is content: it has to be found in what is cited.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from affidavit.verify.prose.glosses import GLOSSES
from affidavit.verify.statements.words import stem


class Role(StrEnum):
    """What a word does."""

    FREE = "FREE"
    CONTENT = "CONTENT"
    NEGATION = "NEGATION"
    EVERY = "EVERY"
    ONLY = "ONLY"
    NONE = "NONE"
    MOST = "MOST"
    UP = "UP"
    DOWN = "DOWN"
    FLAT = "FLAT"
    MORE = "MORE"
    LESS = "LESS"
    ABOUT = "ABOUT"
    HEDGE = "HEDGE"
    CAUSED_BY = "CAUSED_BY"
    CAUSES = "CAUSES"
    UNKNOWN = "UNKNOWN"
    BEFORE = "BEFORE"
    AFTER = "AFTER"
    FIRST = "FIRST"
    LAST = "LAST"
    HIGHEST = "HIGHEST"
    LOWEST = "LOWEST"
    SINCE = "SINCE"
    WELL = "WELL"
    ORDINAL = "ORDINAL"


def _set(words: str) -> frozenset[str]:
    return frozenset(stem(word) for word in words.split())


FUNCTION: Final = _set(
    "a an the this that these those it its itself they them their theirs he she his her we our us "
    "you your i me my one's who whom whose which what where when while whereas how if then than as "
    "at by for from in into of off on onto out over per to toward towards up upon via with within "
    "without under between among amongst against along across around through throughout during "
    "until till and or nor but yet also too either both is are was were be been being am do does "
    "did done doing has have had having will would shall should can could may might must there "
    "here such same other others another each own s so-called e.g i.e etc vs versus re now still "
    "already just even again further furthermore moreover however meanwhile instead otherwise "
    "namely respectively i.e. only not no all any some more less most least very quite rather "
    "once twice after before since because about above below then thus because like every although "
    "though back away ahead aside anymore longer whenever wherever yes ok okay so far"
)
"""Words that only tie others together. Those with a role below are looked at there first."""

_VERBS: Final = (
    "log logs logged show shows report reports reported list lists listed say says state states "
    "stated give gives given name names named record records recorded return returns returned "
    "answer answers answered see seen find found read reads print prints printed display displays "
    "contain contains hold holds carry carries include includes mention mentions note notes noted "
    "observe observed sample sampled appear appears occur occurs occurred happen happened come "
    "comes came go goes went get gets got take takes took make made need needs needed have has "
    "point points look looks indicate indicates describe describes count counted counts measure "
    "measured match matches matched follow follows following stand stands stood lie lies lay "
    "belong belongs concern concerns call called calls refer refers ask asked asks accept accepts "
    "receive receives received use uses used begin began begins start starts started end ends ended "
    "finish finished continue continues continued keep keeps kept reach reaches reached stay stays "
    "remain remains lead leads last lasts lasted sit sits put puts set sets try tries tried attempt "
    "attempts attempted obtain obtained open opened hit hits cover covers visible shown run runs "
    "running ran work works move moves moved turn turns turned become becomes became date dates "
    "dated present presented account accounts accounted amount amounts compute computed compare "
    "compared expect expected check checks checked inspect inspected query queried search searched "
    "request requested require required identify identifies identified confirm confirms confirmed "
    "detect detects detected according total totals equal equals consist consists average averages "
    "averaged vary varies varied range ranges ranged do went"
)
VERBS: Final = frozenset(_VERBS.split()) - frozenset(
    "log logs request requests call calls report reports record count counts total totals range use "
    "query search average averages date point points name need needs work name names list lists "
    "cover state states open average run end ends start set sets hit attempt attempts sample match "
    "look looks account accounts amount amounts order".split()
) | frozenset("be is are was were am been have has had do does did can could cannot".split())
"""Forms that are verbs wherever they stand; a form that may be a noun is none of them."""

SAYING: Final = _set(
    "log logs logged show shows shown report reports reported list lists listed say says said state "
    "states stated give gives given gave name names named record records recorded return returns "
    "returned answer answers answered see sees seen find finds found read reads print prints printed "
    "display displays displayed contain contains hold holds held carry carries include includes "
    "included including mention mentions mentioned note notes noted observe observed appear appears "
    "appeared occur occurs occurred happen happens happened have has had indicate indicates indicated "
    "describe describes described count counts counted measure measured match matches matched belong "
    "belongs concern concerns refer refers check checks checked inspect inspected query queried search "
    "searched identify identifies identified confirm confirms confirmed detect detects detected "
    "according consist consists date dates dated account accounts point points look looks looked "
    "visible asked present presented compute computed compare compared sample sampled examine examined"
)
"""What a report does with facts: it lists, shows, returns. These claim nothing by themselves."""

GAUGING: Final = frozenset(
    "reach reaches reached stay stays stayed remain remains remained stand stands stood lie lies lay "
    "sit sits sat total totals totalled equal equals range ranges ranged vary varies varied amount "
    "amounts amounted take takes took taken last lasts lasted come comes came go goes went keep "
    "keeps kept set sets ask asks accept accepts accepted".split()
)
"""Verbs that only join a number, a moment or a quotation to what it is of, where one follows."""

GENERAL: Final = _set(
    "time times moment moments minute minutes second seconds hour hours day days week weeks month "
    "months year years window windows period periods interval intervals span line lines entry entries "
    "message messages value values number numbers count total sum share part parts piece result "
    "results row rows record item items case cases example point step steps list table column field "
    "fields sample samples reading readings measurement data information evidence fact facts detail "
    "details text name names id ids identifier kind kinds type types sort way place position order "
    "side level rate ratio percent percentage fraction maximum minimum max min peak size amount "
    "amounts level state status reason reasons code codes thing things call calls request requests "
    "response responses answer answers attempt attempts instance instances object objects source "
    "sources output input report reports question investigation incident first last exactly precisely "
    "roughly approximately almost nearly about together apart alone itself side own respective "
    "following listed mentioned said given known shown observed seen printed logged recorded reported "
    "measured sampled utc gmt zone beside besides clearly explicitly actually directly thing fact "
    "word words event events scope context group member figure figures kind quantity unit units "
    "most many several few multiple various numerous majority minority plenty dozens hundreds thousands "
    "millions countless lots half quarter quarters thirds couple handful reason log logs new currently always constantly repeatedly continuously throughout"
)
"""Nouns of any report about anything. What a noun counts or qualifies is for others."""

GUIDING: Final = frozenset(
    "go goes went come comes came run runs ran ask asks use uses using used".split()
)
"""Verbs that only join a name that follows: "went to 10.0.0.1", "runs 4.8.0"."""

VAGUE: Final = frozenset(
    "most many several few multiple various numerous majority minority plenty dozens hundreds "
    "thousands millions billions countless lots half third thirds quarter quarters couple handful "
    "大多数 多数 大部分 绝大多数 绝大部分 多个 多次 多条 若干 几 一些 少数 许多 大量 一半 半数 三分之一 三分之二 "
    "四分之一 数百 数千 数万 数十 数百万 上百 上千 几十 几百 几千".split()
)
"""Words that say how many without a number."""

NEGATION: Final = _set(
    "not no never none nobody nothing neither nor cannot can't couldn't didn't doesn't don't isn't "
    "aren't wasn't weren't won't wouldn't hasn't haven't hadn't shouldn't without unable lack lacks "
    "lacked lacking absent absence"
)
HEDGE: Final = _set(
    "may might could probably possibly perhaps presumably apparently seem seems seemed likely "
    "unlikely suspect suspected suspects assume assumed assumption guess believe believed should "
    "would suggest suggests suggested potentially maybe arguably supposedly appears must ought"
)
UP: Final = _set(
    "rise rose risen rising rises grow grew grows grown growing increase increased increases "
    "increasing climb climbed climbs climbing jump jumped jumps jumping spike spiked spikes surge "
    "surged surges soar soared accelerate accelerated ramp ramped"
)
DOWN: Final = _set(
    "fall fell fallen falls falling drop dropped drops dropping decrease decreased decreases "
    "decreasing decline declined declines declining shrink shrank shrinks "
    "plunge plunged diminish diminished"
)
FLAT: Final = _set(
    "stay stayed stays staying remain remained remains remaining constant unchanged stable steady "
    "steadily flat hold held holds"
)
MORE: Final = _set("above over exceed exceeds exceeded exceeding beyond more least greater higher")
LESS: Final = _set("below under most less fewer lower beneath underneath within")
ABOUT: Final = _set("about roughly approximately approx around circa nearly almost ca")
EVERY: Final = _set("all each every both any entire whole everything everyone always")
ONLY: Final = _set("only solely exclusively alone sole")
NONE: Final = _set("none neither nothing no never")
MOST: Final = _set("most mostly majority mainly")
HIGHEST: Final = _set(
    "highest largest longest biggest greatest maximum peak peaked top heaviest slowest"
)
LOWEST: Final = _set("lowest smallest shortest least minimum fastest lightest")
FIRST: Final = _set("first earliest firstly oldest")
LAST: Final = _set("last latest final newest recent")

CAUSED_BY: Final = (
    "because of", "because", "due to", "caused by", "owing to", "as a result of", "as a consequence of",
    "on account of", "thanks to", "triggered by", "brought about by", "attributable to",
    "attributed to", "explained by", "driven by", "the result of", "a result of", "results from",
    "resulted from", "resulting from", "stems from", "stem from", "stemmed from", "originates in",
    "originate in", "originated in", "originates from", "originated from", "originate from",
    "arises from", "arise from", "arose from", "follows from", "the fault of", "blamed on",
    "rooted in", "a consequence of", "the consequence of", "goes back to", "go back to",
    "traces back to", "traced back to", "traced to", "produced by", "induced by", "provoked by",
    "broken by", "forced by", "given that", "seeing that", "on the grounds that",
)  # fmt: skip
"""Markers between an effect (before) and its cause (after), longest match first."""

CAUSES: Final = (
    "which is why", "that is why", "this is why", "which causes", "which caused", "causes", "caused",
    "cause", "causing", "leads to", "led to", "leading to", "lead to", "results in", "resulted in",
    "resulting in", "result in", "which makes", "which made", "makes", "made", "making",
    "as a result", "as a consequence", "consequently", "therefore", "hence", "thus", "thereby",
    "so that", "so", "triggers", "triggered", "triggering", "trigger", "brings about",
    "brought about", "is responsible for", "are responsible for", "was responsible for",
    "responsible for", "is to blame for", "to blame", "is the root cause of", "is the cause of",
    "is the reason for", "is behind", "was behind", "gives rise to", "gave rise to", "produces",
    "produced", "forces", "forced", "forcing", "prevents", "prevented", "preventing", "prevent",
    "blocks", "brings down", "brought down", "takes down", "took down", "knocked out", "breaks",
    "broke", "slows down", "slowed down", "keeps", "kept", "explains", "explain", "explained",
    "accounts for", "drives", "drove", "driving", "starves", "starved", "exhausts", "exhausted",
    "overloads", "overloaded", "saturates", "saturated", "cascades", "cascaded", "cascading",
    "the culprit", "culprit", "root cause", "root-cause", "induces", "induced",
)  # fmt: skip
"""Markers between a cause (before) and its effect (after), longest match first."""

UNKNOWN: Final = (
    "not known", "unknown", "not clear", "unclear", "cannot be told", "cannot be said",
    "cannot be determined", "not determined", "undetermined", "not established", "remains open",
    "left open", "not explained", "unexplained", "not confirmed", "unconfirmed",
    "could not be determined", "could not be confirmed", "cannot be confirmed", "not proved",
    "not proven", "not identified", "does not show", "do not show", "does not say", "do not say",
    "no evidence", "not in evidence", "not verified", "does not tell", "do not tell",
)  # fmt: skip
"""What says that something is not known; it claims no fact but the question."""


NUMBERS: Final[Mapping[str, int]] = MappingProxyType(
    {
        "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
        "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13,
        "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17, "eighteen": 18,
        "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60,
        "hundred": 100, "dozen": 12, "both": 2, "twice": 2, "thrice": 3, "pair": 2,
    }
)  # fmt: skip
ORDINALS: Final[Mapping[str, int]] = MappingProxyType(
    {
        "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8,
        "ninth": 9, "tenth": 10,
    }
)  # fmt: skip
SCALES: Final[Mapping[str, int]] = MappingProxyType(
    {"thousand": 10**3, "million": 10**6, "billion": 10**9, "万": 10**4, "亿": 10**8, "千": 10**3}
)

ALIKE: Final = tuple(
    _set(group)
    for group in (
        "fail fails failed failing failure failures error errors errored unsuccessful unsuccessfully",
        "refuse refused refuses refusal reject rejected rejects deny denied",
        "kill killed kills terminate terminated terminates",
        "wait waits waiting waited block blocked pending",
        "expire expired expires expiry expiration notafter",
        "exceed exceeded exceeds exceeding over",
        "restart restarts restarted restarting",
        "timeout timeouts timed timed-out deadline",
        "resolve resolved resolves resolving resolution lookup",
        "connect connects connected connection connections connecting conn",
        "delete deleted deletes remove removed removes removal",
        "duration durations took take takes lasted last elapsed latency",
        "memory mem",
        "certificate certificates cert certs",
        "database databases db",
        "image images",
        "unavailable notfound",
        "replica replicas",
        "configuration configured config configure setting settings set",
        "maximum max limit limits",
        "deploy deployed deploys deployment deployments rollout rolled release released releases",
        "spend spent spends took time duration",
        "user users usename username",
        "wrong incorrect invalid bad mismatch",
        "crash crashed crashes crashing panic panics panicked",
        "full exhausted exhaust exhausts",
        "slow slower slowly",
        "lag lags lagging lagged behind",
        "answer answered answers respond responded responds response return returned returns status",
        "ready readiness",
        "schedule scheduled schedules scheduling scheduler",
        "oom oomkilled memory",
        "query queries statement sql",
        "throw thrown throws threw raise raised exception",
        "transaction transactions xact",
        "session sessions pid",
        "acquire acquires acquired acquiring acquisition obtain obtained",
        "succeed succeeds succeeded success successful successfully",
        "free available avail available remaining",
        "space filesystem disk storage volume",
        "deliver delivers delivered delivery send sent sends",
        "stop stops stopped exit exits exited terminate terminated",
        "inactive idle",
        "refuse refused refuses refusal reject rejected rejects deny denied forbidden enospc",
        "full exhausted exhaust exhausts nospace",
        "unsynchronised unsynchronized",
        "synchronise synchronised synchronize synchronized sync synced",
        "bytes byte",
        "flap flaps flapped flapping",
        "session sessions neighbor neighbour peer peers",
        "lease leases leased",
        "key keys kid",
        "login logins",
        "queue queued queues",
        "build builds job jobs",
        "runner runners worker workers",
        "age old",
        "clock time",
        "balancer balancers loadbalancer lb",
        "pod pods host hosts hostname instance instances node nodes machine machines",
    )
)
"""Words that say the same of any system; either stands for the other when words are compared."""

_ALIKE_OF: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        word: frozenset().union(*(group for group in ALIKE if word in group))
        for word in frozenset().union(*ALIKE)
    }
)

_ROLES: Final[tuple[tuple[Role, frozenset[str]], ...]] = (
    (Role.NEGATION, NEGATION),
    (Role.HEDGE, HEDGE),
    (Role.UP, UP),
    (Role.DOWN, DOWN),
    (Role.FREE, FUNCTION | SAYING | GENERAL),
)


def alike(word: str) -> frozenset[str]:
    """The stems that mean the same in a report, the stem itself among them."""
    return _ALIKE_OF.get(word, frozenset({word})) | GLOSSES.get(word, frozenset())


def role_of(word: str) -> Role:
    """What a stem does in a sentence; CONTENT when it has to be found in evidence."""
    return next((role for role, words in _ROLES if word in words), Role.CONTENT)
