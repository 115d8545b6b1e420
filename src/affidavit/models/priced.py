"""A model with the price that a user configured (K3): what is not configured stays unknown."""

from __future__ import annotations

from dataclasses import dataclass

from affidavit.ports.model import Model, Price
from affidavit.ports.wrapped_model import WrappedModel


@dataclass(frozen=True, slots=True)
class PricedModel(WrappedModel):
    """Another model, at a price (`ports.model.Model`)."""

    inner: Model
    at: Price

    @property
    def price(self) -> Price:
        """The configured one, whatever the model itself says."""
        return self.at


def at_price(model: Model, price: Price | None) -> Model:
    """The model at that price; where none was configured, the model as it is."""
    return model if price is None else PricedModel(model, price)
