"""What a model call costs, and how big a model's window is, from the price library that is kept for it.

genai-prices is imported when first needed and never asked to update itself, so nothing goes over the network.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from hookagent.providers.settings import is_openai_model
from hookagent.usage import Usage

_LIBRARY_NAMES = {"anthropic": "anthropic", "openai": "openai", "openai-chat": "openai"}


def price(provider: str, model: str, usage: Usage) -> float | None:
    """The cost of one model call in US dollars, or None where no price is known.

    Each token is charged once: the library wants the whole prompt and, of it, what was read from and written to
    the cache, which is what our four counts add up to.
    """
    library = _LIBRARY_NAMES.get(provider)
    if library is None or _known(provider, model) is None:
        return None
    from genai_prices import Usage as PricedUsage
    from genai_prices import calc_price

    try:
        counts = PricedUsage(
            input_tokens=usage.prompt_tokens,
            cache_read_tokens=usage.cache_read_tokens,
            cache_write_tokens=usage.cache_write_tokens,
            output_tokens=usage.output_tokens,
        )
        return float(calc_price(counts, model_ref=model, provider_id=library).total_price)
    except (LookupError, ValueError):
        return None


def has_price(provider: str, model: str) -> bool:
    """Whether a price is known, for a limit on costs that must be checked before a run starts."""
    return _known(provider, model) is not None


def context_window(provider: str, model: str) -> int | None:
    """The size of a model's context window in tokens, or None where it is unknown."""
    found = _known(provider, model)
    window = getattr(found, "context_window", None)
    return window if isinstance(window, int) and window > 0 else None


@lru_cache(maxsize=256)
def _known(provider: str, model: str) -> Any:
    library = _LIBRARY_NAMES.get(provider)
    if library is None or not model:
        return None
    if provider == "openai-chat" and not is_openai_model(model):
        # Served by somebody else, whose prices we do not know, under whatever name.
        return None
    from genai_prices import Usage as PricedUsage
    from genai_prices import calc_price

    try:
        return calc_price(PricedUsage(input_tokens=0, output_tokens=0), model_ref=model, provider_id=library).model
    except (LookupError, ValueError):
        return None
