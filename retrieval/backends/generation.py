"""How a generator writes: the parameters that providers have in common."""

from __future__ import annotations

from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

MOST_TOKENS = 1_000_000


class GenerationSettingsError(ValueError):
    """Settings that no generator could use; `field` is the name of the one that is wrong."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}" if field else message)
        self.field = field
        self.message = message


class GenerationSettings(BaseModel):
    """How to write an answer; what is None is left to the provider."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        strict=True,
        allow_inf_nan=False,
        use_attribute_docstrings=True,
    )

    temperature: float | None = Field(default=None, ge=0, le=2)
    """How much chance decides: 0 is the likeliest words, always."""
    top_p: float | None = Field(default=None, gt=0, le=1)
    """Only the likeliest words that together have this probability are chosen from."""
    max_tokens: int | None = Field(default=None, ge=1, le=MOST_TOKENS)
    """The longest answer; one that reaches it ends there."""
    frequency_penalty: float | None = Field(default=None, ge=-2, le=2)
    """How much words that came often are avoided; Cohere takes 0 to 1."""
    presence_penalty: float | None = Field(default=None, ge=-2, le=2)
    """How much words that came at all are avoided; Cohere takes 0 to 1."""
    seed: int | None = Field(default=None, ge=0, le=2**31 - 1)
    """The same one gives the same answer again, as far as the provider can."""

    @classmethod
    def parse(cls, data: object) -> Self:
        """Return the settings in `data`, from JSON; raise GenerationSettingsError."""
        try:
            return cls.model_validate(data)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            field = ".".join(str(part) for part in first["loc"])
            raise GenerationSettingsError(field, first["msg"]) from error

    def given(self) -> dict[str, Any]:
        """Return what is set, by name."""
        return self.model_dump(exclude_none=True)
