"""What looks like a secret, so that no message and no listing ever shows one."""

from __future__ import annotations

import re
from typing import Any

MASK = "***"

_SECRET_NAME = re.compile(
    r"^(?!max_).*(?:key|token|secret|passw|passphrase|credential|authorization|cookie)", re.IGNORECASE
)
_PASSWORD_NAME = re.compile(r"secret|passw|passphrase", re.IGNORECASE)
_SECRET_TEXT = re.compile(
    r"""
      -----BEGIN[ A-Z]+-----[\s\S]*?(?:-----END[ A-Z]+-----|\Z)       # private keys
    | \b(?:sk|pk|rk|hf|gsk|xai)[-_][A-Za-z0-9_-]{8,}                  # model vendors, Stripe
    | \b(?:gh[pousr]_|github_pat_|glpat-|xox[abprs]-|pypi-)[A-Za-z0-9_-]{8,}
    | \bA(?:KIA|SIA)[A-Z0-9]{12,} | \bAIza[A-Za-z0-9_-]{20,}          # AWS, Google
    | \beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_.-]+                         # JSON web tokens
    | (?i:bearer|basic)\ +[A-Za-z0-9+/=._~-]{8,}
    | (?<=://)[^\s/@]+:[^\s/@]+(?=@)                                  # user:password@host
    | (?<![A-Za-z0-9+/_-])(?=[A-Za-z0-9+/_-]*[0-9])(?=[A-Za-z0-9+/_-]*[a-z])(?=[A-Za-z0-9+/_-]*[A-Z])
      [A-Za-z0-9+/_-]{32,}={0,2}                                      # long random text
    """,
    re.VERBOSE,
)


def secret_name(name: str) -> bool:
    """Return whether a key of this name holds a secret, by its name."""
    return _SECRET_NAME.search(name) is not None


def masked(value: Any, *names: str) -> Any:
    """Return a text, number or boolean with its secrets replaced by `***`; lists and mappings are masked part by part.

    `names` are the keys that lead to the value: under the name of a secret every text is masked whole
    (and numbers too, if the name is that of a password: `max_tokens: 4096` is a count), elsewhere only the parts
    of a text that look like a key.
    """
    if isinstance(value, str):
        if value and any(secret_name(name) for name in names):
            return MASK
        return _SECRET_TEXT.sub(MASK, value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return MASK if any(_PASSWORD_NAME.search(name) for name in names) else value
    return value


def is_secret(value: Any, *names: str) -> bool:
    """Return whether `masked` would hide something of the value."""
    hidden = masked(value, *names)
    # Not a number differs from itself, and is no secret.
    return hidden is not value and bool(hidden != value)
