"""A model with the price that a user configured (K3): what is not configured stays unknown."""

from __future__ import annotations

from dataclasses import dataclass

from affidavit.ports.model import Model, ModelAnswer, ModelRequest, Price


@dataclass(frozen=True, slots=True)
class PricedModel:
    """Another model, at a price (`ports.model.Model`)."""

    inner: Model
    price: Price

    @property
    def name(self) -> str:
        """The model's own."""
        return self.inner.name

    @property
    def vendor(self) -> str:
        """The model's own."""
        return self.inner.vendor

    @property
    def window_tokens(self) -> int:
        """The model's own."""
        return self.inner.window_tokens

    @property
    def answer_timeout_s(self) -> float:
        """The model's own."""
        return self.inner.answer_timeout_s

    async def complete(self, request: ModelRequest) -> ModelAnswer:
        """The model's own answer."""
        return await self.inner.complete(request)


def at_price(model: Model, price: Price | None) -> Model:
    """The model at that price; where none was configured, the model as it is."""
    return model if price is None else PricedModel(model, price)
