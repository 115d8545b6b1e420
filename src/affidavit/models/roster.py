"""Which models are asked for what, in which order, and who may be asked for whom (H8; pure)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from affidavit.contract.errors import InputRefused
from affidavit.contract.limits import Limits
from affidavit.core.budget import RELEASE_CALLS, Amount, Reserve, bound_of, release_reserve
from affidavit.ports.model import Model, Purpose


@dataclass(frozen=True, slots=True)
class Roster:
    """The configured models, first choice first. Authors and judges are never mixed.

    `allowed` holds the dependencies (`vendor:name`) that a tenant may use; a tenant that is not in
    it may use all. Repair and withdrawal are the author's matter: its models are asked.
    """

    authors: tuple[Model, ...] = ()
    judges: tuple[Model, ...] = ()
    allowed: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def models_for(self, purpose: Purpose, tenant: str) -> tuple[Model, ...]:
        """The models that may be asked, first choice first."""
        listed = self.judges if purpose is Purpose.JUDGE else self.authors
        allowed = self.allowed.get(tenant)
        return tuple(item for item in listed if allowed is None or dependency_of(item) in allowed)

    def release_purposes(self) -> frozenset[Purpose]:
        """What a release will ask a model for."""
        judged = {Purpose.JUDGE} if self.judges else set()
        authored = {Purpose.REPAIR, Purpose.WITHDRAW} if self.authors else set()
        return frozenset(judged | authored)

    def reserve(self, limits: Limits, tenant: str) -> Reserve:
        """What collecting evidence may not touch (K4); money by the dearest model of each purpose.

        Raises InputRefused (PRICE_UNKNOWN) where money is limited and a price is not known.
        """
        purposes = self.release_purposes()
        tokens = release_reserve(limits, purposes)
        if limits.money_micros is None:
            return Reserve(Amount(tokens, 0))
        self._refuse_unknown_prices()
        micros = sum(self._dearest(purpose, limits, tenant) for purpose in purposes)
        return Reserve(Amount(tokens, micros))

    def _dearest(self, purpose: Purpose, limits: Limits, tenant: str) -> int:
        calls = RELEASE_CALLS.get(purpose, 1)
        bound = bound_of(purpose, limits)
        prices = [item.price for item in self.models_for(purpose, tenant) if item.price]
        costs = [price.of(bound.input_tokens, bound.output_tokens) for price in prices]
        return calls * max(costs, default=0)

    def _refuse_unknown_prices(self) -> None:
        for item in (*self.authors, *self.judges):
            if item.price is None:
                raise InputRefused(
                    f"money is limited, and the price of {item.name} is not known",
                    code="PRICE_UNKNOWN",
                    hint="configure its price, or limit tokens instead of money",
                )

    def admit(self, limits: Limits, tenant: str) -> Reserve:
        """The reserve of a run that may start.

        Raises InputRefused: NO_MODEL_ALLOWED, PRICE_UNKNOWN, or LIMITS_TOO_SMALL where the profile
        cannot hold the release reserve and one call of the author (K4).
        """
        for purpose in (Purpose.DECIDE, Purpose.JUDGE):
            listed = self.judges if purpose is Purpose.JUDGE else self.authors
            if listed and not self.models_for(purpose, tenant):
                raise InputRefused(
                    f"tenant {tenant} may use none of the configured models",
                    code="NO_MODEL_ALLOWED",
                    hint="allow the tenant one of them, or configure another",
                )
        reserve = self.reserve(limits, tenant)
        self._refuse_small(limits, reserve, tenant)
        return reserve

    def _refuse_small(self, limits: Limits, reserve: Reserve, tenant: str) -> None:
        one = bound_of(Purpose.DECIDE, limits).tokens if self.authors else 0
        needed = reserve.amount.tokens + one
        if needed > limits.tokens:
            raise InputRefused(
                f"a limit of {limits.tokens} tokens cannot hold one step and the checks of the "
                f"release, which need {needed}",
                code="LIMITS_TOO_SMALL",
                hint="use a larger profile (--limits), or the embedded judge",
            )
        if limits.money_micros is None:
            return
        money = (reserve.amount.micros or 0) + (
            self._dearest(Purpose.DECIDE, limits, tenant) if self.authors else 0
        )
        if money > limits.money_micros:
            raise InputRefused(
                f"a limit of {limits.money_micros} millionths cannot hold one step and the checks "
                f"of the release, which need {money}",
                code="LIMITS_TOO_SMALL",
                hint="raise the limit of money, or configure a cheaper model",
            )


def dependency_of(model: Model) -> str:
    """The name of a model as a dependency: vendor and model together (H8)."""
    return f"{model.vendor}:{model.name}"


def circuit_of(model: Model) -> str:
    """The name of its circuit among those of all dependencies."""
    return f"model:{dependency_of(model)}"
