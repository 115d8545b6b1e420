"""[models]: who investigates, who judges, and what a token costs (H8, K3)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from pydantic import Field, field_validator

from affidavit.ports.model import Price
from affidavit.settings.table import Money, Table


class ModelPrice(Table):
    """What a million tokens of one model cost. A model that costs nothing says so: 0."""

    input: Money = Field(description="of a million tokens that it reads")
    output: Money = Field(description="of a million tokens that it writes")

    def price(self) -> Price:
        """The price as a model carries it."""
        return Price(input_micros=self.input, output_micros=self.output)


class ModelsTable(Table):
    """[models]: names as after `--model`; an empty list means the embedded agent or judge."""

    author: tuple[str, ...] = Field(
        default=(), description="models that investigate, first choice first"
    )
    judge: tuple[str, ...] = Field(
        default=(), description="models that judge, first choice first; another vendor's is better"
    )
    prices: Mapping[str, ModelPrice] = Field(
        default_factory=lambda: MappingProxyType({}),
        description='price of a million tokens by model: `"openai:gpt-5" = { input = "1.25", '
        'output = "10" }`; a price that is not set is not known, which is not zero',
    )

    @field_validator("prices", mode="after")
    @classmethod
    def _freeze(cls, prices: Mapping[str, ModelPrice]) -> Mapping[str, ModelPrice]:
        return MappingProxyType(dict(prices))

    def price_of(self, name: str) -> Price | None:
        """The configured price of a model, by the name that it is opened with."""
        found = self.prices.get(name)
        return None if found is None else found.price()
