"""A model around another one: what it does not say itself is the inner model's (`ports.model`)."""

from __future__ import annotations

from affidavit.ports.model import Model, ModelAnswer, ModelRequest, Price


class WrappedModel:
    """Everything is the inner model's; a subclass has `inner` as its field, and overrides."""

    __slots__ = ()

    inner: Model

    @property
    def name(self) -> str:
        """The inner model's."""
        return self.inner.name

    @property
    def vendor(self) -> str:
        """The inner model's."""
        return self.inner.vendor

    @property
    def window_tokens(self) -> int:
        """The inner model's."""
        return self.inner.window_tokens

    @property
    def price(self) -> Price | None:
        """The inner model's."""
        return self.inner.price

    @property
    def answer_timeout_s(self) -> float:
        """The inner model's."""
        return self.inner.answer_timeout_s

    async def complete(self, request: ModelRequest) -> ModelAnswer:
        """The inner model's answer. Raises what it raises."""
        return await self.inner.complete(request)
