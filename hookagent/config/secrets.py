"""What looks like a secret, so that no message and no listing ever shows one."""

from __future__ import annotations

import re
from typing import Any

from hookagent.masking import MASK, is_secret_name, masked_shapes

_PASSWORD_NAME = re.compile(r"secret|passw|passphrase", re.IGNORECASE)
# A listing is read by others than a log: here all is hidden that may be a secret, be it a checksum in the end.
_PERHAPS_SECRET = re.compile(
    r"""
      \b(?:sk|pk|rk|hf|gsk|xai)[-_][A-Za-z0-9_-]{8,}
    | (?i:basic)\ +[A-Za-z0-9+/=._~-]{8,}
    | (?<=://)[^\s/@]+:[^\s/@]+(?=@)                                  # user:password@host
    | (?<![A-Za-z0-9+/_-])(?=[A-Za-z0-9+/_-]*[0-9])(?=[A-Za-z0-9+/_-]*[a-z])(?=[A-Za-z0-9+/_-]*[A-Z])
      [A-Za-z0-9+/_-]{32,}={0,2}                                      # long random text
    """,
    re.VERBOSE,
)


def masked(value: Any, *names: str) -> Any:
    """Return a text, number or boolean with its secrets replaced by `***`; lists and mappings are masked part by part.

    `names` are the keys that lead to the value: under the name of a secret every text is masked whole
    (and numbers too, if the name is that of a password: `max_tokens: 4096` is a count), elsewhere only the parts
    of a text that look like a key.
    """
    if isinstance(value, str):
        if value and any(is_secret_name(name) for name in names):
            return MASK
        return _PERHAPS_SECRET.sub(MASK, masked_shapes(value))
    if isinstance(value, int | float) and not isinstance(value, bool):
        return MASK if any(_PASSWORD_NAME.search(name) for name in names) else value
    return value


def is_secret(value: Any, *names: str) -> bool:
    """Return whether `masked` would hide something of the value."""
    hidden = masked(value, *names)
    # Not a number differs from itself, and is no secret.
    return hidden is not value and bool(hidden != value)
