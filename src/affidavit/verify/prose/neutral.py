"""Words of any report about anything: they order, weigh and point, and say nothing of a system.

Kept by what they do. A word belongs here if putting it into a true sentence, or taking it out
of one, can make no fact false. Words of state, of trouble, of acting and of causing never do. Whole
forms, never stems: "close" weighs, "closed" tells what happened.
"""

from __future__ import annotations

from typing import Final


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


TELLING: Final = _set(
    " address announce announces announced cite cites cited comment "
    "comments commented complain complains complained declare declares declared denote denotes denoted "
    " documents documented illustrate illustrates illustrated inform informs informed "
    "mark marks marked mean means meant mention output outputs point points pointed quote quotes quoted "
    "reflect reflects reflected remark reveal reveals revealed "
    "signals signalled specify specifies specified spell summarise summarize tell tells told total "
    "write writes wrote written describe described describing noting showing listing reporting stating "
    "saying reading naming giving holding containing including covering spanning describe"
)
"""What a source or a report does with what it says."""

SEEING: Final = _set(
    "assess assessed consider considered compare compares comparing compared comparison contrast "
    "contrasts determine determined discover discovered establish established estimate estimated "
    "evaluate evaluated evident examine examined follow inspect investigate investigated judge judged "
    "know learn look monitor monitored noticeable notice noticed observe observable plain plainly "
    " review reviewed seem spot spotted study track tracked trace traced understand "
    "verify view viewed visible visibly watch watched appear glance hand sight check checking finding "
    "findings observation observations inspection overview picture summary conclusion analysis"
)
"""What whoever looks does."""

RELATING: Final = _set(
    "apply applies applied associate associated attach attached belong carry carries carried coincide "
    "coincides coincided comprise comprises comprised compose composed concern concerning concerns "
    " consist constitute constitutes correspond corresponds corresponding corresponded equal "
    "equals fit fits fitted involve involves involved relate relates related relation respect respective "
    "represent represents represented regard regarding span spans spread sum tie "
    "tied together with within belong pair paired matching accompany accompanied accompanies account "
    "deal deals concern handle handles handled needed treat treated use "
    "used using utilise serve serves served provide provides provided supply supplies supplied come put "
    "puts set sets setting arrange arranged arrangement keep keeps place placed places "
    "take takes taking get gets getting let lets"
)
"""Light verbs that join what stands on either side of them."""

ORDERING: Final = _set(
    "addition additional additionally afterwards afterward alternately alternatively another beforehand "
    "besides earlier else ensuing eventually final finally former "
    "formerly further hitherto initial initially last lastly later latter meantime moreover "
    "next now originally preceding previous previously prior row secondly sequence "
    " so-far soon subsequent subsequently succession successive then thereafter "
    " throughout time times until upcoming while ago already yet start-up startup beginning"
)
"""What says where something stands in a telling. An order between two facts is for others."""

WEIGHING: Final = _set(
    " actual actually altogether basically broad broadly "
    " chief chiefly clear clearly close closely comparable comparatively concrete considerable "
    "considerably core detailed different differing direct "
    "directly distinct dramatic dramatically equally especially "
    "essential essentially even evidently exact exactly extreme extremely fair fairly far "
    " frequent greatly "
    "identical important indeed individual interesting just key large-scale "
    "largely likewise literal little main mainly major marked markedly material "
    "mere merely minor modest moderate moderately more mostly much near nearly "
    "noteworthy notable notably odd outright overall own particular particularly "
    "plainly practically precise precisely present primarily principal principally quite "
    "rather relative relatively relevant remarkable remarkably rough roughly separate separately "
    " sharp sharply significant significantly similar similarly "
    "simply single slightly some somewhat special specific specifically "
    "striking substantial substantially such "
    " usually? very virtually visible well widely about "
    "ahead apart away behind beyond halfway order extra "
)
"""Degree and weight without a measure. Numbers, and extremes are for others."""

POINTING: Final = _set(
    "aforementioned above below contrary counterpart counterparts example fact here instance instead item "
    "it itself itselves matter myself namely neighbour one ones opposite others particular person "
    "question regard said same thing this those topic way which whose"
)

MEASURING: Final = _set(
    "amount amounts axis bar base baseline baselines bound bounds bucket buckets category chart class "
    "curve curves degree dimension dimensions distance distribution division entry extent figure figures "
    "fraction gap graph group groups height histogram increment kind length level levels line "
    "list magnitude mark metric metrics measure measures measurement measurements number numbers "
    "observation pattern percentage percentile period periods phase plot point points portion portions "
    "position precision proportion quantity range ranges rank ranking rate rates ratio reading readings "
    "reference sample samples score section segment series set sets shape size sizes slice slot "
    "slots span spans speed statistic statistics step steps stretch subset sum summit tally term terms "
    " tier timing timeline times total totals trend unit units value values variable "
    "volume volumes width window windows zone zones timestamp timestamps date dates"
)
"""What is measured, counted and drawn, of anything."""

HOLDING: Final = _set(
    "answer answers argument arguments attribute attributes body caption cell column columns content "
    "contents context dashboard description descriptions detail details display documents "
    "dump entry excerpt excerpts extract field fields footer form format fragment header "
    "headers heading history info information journal label labels listing log logs message "
    "messages meta metadata name names note notes notice output outputs page pages paragraph parameter "
    "parameters print printout property properties record records reply replies report reports "
    "result results row rows screen sentence snapshot snapshots snippet source sources statement string "
    "strings table tables tag tags text texts title view wording word words inventory "
    "catalogue panel feed stream line"
)
"""Where something is written down."""

CLOCKS: Final = _set(
    "instant moment moments seconds minute minutes hour hours day days week weeks month months "
    "year years date"
)

NEUTRAL: Final = (
    TELLING | SEEING | RELATING | ORDERING | WEIGHING | POINTING | MEASURING | HOLDING | CLOCKS
)
"""Every word that nothing wherever it stands."""
