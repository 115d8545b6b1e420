"""What is written down while one sentence is checked: codes, what binds, what came before."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime

from affidavit.contract.violations import SupportCode
from affidavit.verify.prose.binding import Binding
from affidavit.verify.prose.clauses import Clause
from affidavit.verify.prose.computing import Pool
from affidavit.verify.prose.desk import Desk
from affidavit.verify.prose.notes import Note
from affidavit.verify.prose.proofs import Told
from affidavit.verify.prose.tokens import Kind, Token
from affidavit.verify.sentences import Part
from affidavit.verify.statements.records import RecordView
from affidavit.verify.statements.units import Stated


@dataclass(slots=True)
class Findings:
    """What a sentence came to: codes against it, the records that carry it, what it binds."""

    codes: list[SupportCode] = field(default_factory=list)
    used: list[RecordView] = field(default_factory=list)
    numbers: list[Stated] = field(default_factory=list)
    moments: list[datetime] = field(default_factory=list)
    topics: tuple[Token, ...] = ()
    notes: list[Note] = field(default_factory=list)
    named: tuple[Token, ...] = ()

    def refuse(self, code: SupportCode, what: str = "", *, firm: bool = False) -> None:
        """Note a code once, and for the private audit every word that it is about."""
        if code not in self.codes:
            self.codes.append(code)
        self.notes.append(Note(code, what, firm))

    def copy(self) -> Findings:
        """The same with lists of its own, so that a second try does not write into the first."""
        return replace(
            self,
            codes=list(self.codes),
            used=list(self.used),
            numbers=list(self.numbers),
            moments=list(self.moments),
            notes=list(self.notes),
        )


@dataclass(frozen=True, slots=True)
class GrantedNumber:
    """A number that a statement proved, with the call and the facts that prove it."""

    stated: Stated
    call: str
    facts: tuple[int, ...]
    operator: str = "="
    counts: bool = False
    names: frozenset[str] = frozenset()
    window: tuple[datetime, datetime] | None = None


@dataclass(frozen=True, slots=True)
class Granted:
    """What the sentence's own typed statements proved: numbers, moments, and words of theirs.

    A number goes with the call and the facts that prove it, so that it is granted to a clause about
    those facts alone. `whole` says that there are statements and that every one is proved. `told`
    are the proofs that the words may rest on, `own` those of the sentence itself.
    """

    numbers: tuple[GrantedNumber, ...] = ()
    whole: bool = False
    moments: tuple[datetime, ...] = ()
    names: frozenset[str] = frozenset()
    stems: frozenset[str] = frozenset()
    told: Told = field(default_factory=lambda: Told(()))
    own: Told = field(default_factory=lambda: Told(()))


@dataclass(frozen=True, slots=True)
class Context:
    """What stands around a sentence: its part, what its statements proved, what came before.

    `topics` are the last names of the sentence before, `named` its first.
    """

    part: Part
    granted: Granted = field(default_factory=Granted)
    pool: Pool = field(default_factory=Pool)
    topics: tuple[Token, ...] = ()
    named: tuple[Token, ...] = ()


@dataclass(frozen=True, slots=True)
class Mark:
    """A sheet as it stood: its findings, what came before, and how many notes there were."""

    findings: Findings
    before: Binding | None
    counted: tuple[str, frozenset[int]]
    notes: int


@dataclass(slots=True)
class Sheet:
    """One sentence being checked: `before` is the binding of the clause before, `counted` the
    records that a number of the sentence counted."""

    desk: Desk
    context: Context
    findings: Findings
    topics: tuple[Token, ...] = ()
    before: Binding | None = None
    said: tuple[Token, ...] = ()
    counted: tuple[str, frozenset[int]] = ("", frozenset())

    def mark(self) -> Mark:
        """Where the sheet stands, to come back to when a way of reading proves nothing."""
        return Mark(self.findings.copy(), self.before, self.counted, len(self.findings.notes))

    def reset(self, mark: Mark) -> None:
        """Go back to a mark."""
        self.findings = mark.findings.copy()
        self.before, self.counted = mark.before, mark.counted

    def since(self, mark: Mark) -> list[Note]:
        """What was noted since a mark."""
        return self.findings.notes[mark.notes :]

    def keep_stated(self, clause: Clause) -> None:
        """Remember the numbers of a clause that its statements carry."""
        self.findings.numbers.extend(
            token.stated for token in clause.tokens if token.stated is not None
        )

    def vouched(self, tokens: tuple[Token, ...]) -> Findings:
        """The findings of a sentence that its statements carry whole."""
        numbers = [token.stated for token in tokens if token.stated is not None]
        return Findings(numbers=numbers, used=self.findings.used, topics=self.findings.topics)

    def refuse(self, code: SupportCode, what: str = "") -> None:
        """Note a code against the sentence: nothing binds what it says."""
        self.findings.refuse(code, what)

    def refute(self, code: SupportCode, what: str = "") -> None:
        """Note a code that a proved statement or a record speaks for: no judge overrules it."""
        self.findings.refuse(code, what, firm=True)

    def knows(self, token: Token) -> bool:
        """Whether any record of any call holds the token."""
        return any(self.desk.places(call, token) for call in self.desk.all)

    def is_granted(self, token: Token) -> bool:
        """Whether a proved statement names the token."""
        return token.text.casefold() in self.context.granted.names

    def only_asked(self, token: Token) -> bool:
        """A conclusion may call the thing by the name that the question gave it."""
        return (
            self.context.part is Part.CONCLUSION
            and token.kind is not Kind.NUMBER
            and self.desk.restates(token)
            and not self.knows(token)
        )
