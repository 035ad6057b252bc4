"""Secrets, replaced before a text is shown, logged or stored: the one place that knows what looks like one."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import ClassVar

MASK = "***"

# A few everyday words that hold one of these are let through.
_SECRET_NAME = re.compile(
    r"^(?!max_).*(?:key(?!board|word|stroke)|token(?!i[sz])|secret|passw|passphrase|credential|authori[sz]ation|cookie)",
    re.IGNORECASE,
)
# Shorter values are switches ("1", "false"), and would mask innocent text everywhere.
_SHORTEST = 6
_SHAPES = (
    (
        re.compile(
            r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----.*?(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|\Z)", re.DOTALL
        ),
        MASK,
    ),
    (re.compile(r"(?i)\bbearer\s{1,3}[\w.~+/=-]{12,}"), MASK),
    (re.compile(r"(://[^\s/:@]{0,100}:)[^\s/@]{1,200}@"), rf"\1{MASK}@"),
    (
        re.compile(
            r"\b(?:sk-[\w-]{8,}|(?:sk|rk|pk)_(?:live|test)_\w{8,}|(?:gsk|xai)[-_][\w-]{12,}|hf_\w{16,}"  # Stripe
            r"|gh[opsur]_\w{16,}|github_pat_\w{16,}|glpat-[\w-]{16,}|xox[abeprs]-[\w-]{8,}|pypi-[\w-]{16,}"
            r"|(?:AKIA|ASIA)[0-9A-Z]{16}|AIza[\w-]{30,}"  # AWS, Google
            r"|eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*)"  # JSON web tokens
        ),
        MASK,
    ),
)


def is_secret_name(name: str) -> bool:
    """Tell whether something of this name, as an argument, a key or a variable, is taken for a secret."""
    return _SECRET_NAME.search(name) is not None


class Masker:
    """Replaces secrets in texts by `***`: the values of variables that are named like secrets, and what looks like one.

    `environment` is where the variables are read, once; default: the process's. What looks like a secret are private
    keys, the keys of model vendors, code hosts and clouds, bearer tokens, and passwords in addresses.
    """

    __slots__ = ("_known",)
    MASK: ClassVar[str] = MASK

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        variables = os.environ if environment is None else environment
        values = {value.strip() for name, value in variables.items() if is_secret_name(name)}
        longest_first = sorted((value for value in values if len(value) >= _SHORTEST), key=len, reverse=True)
        self._known = re.compile("|".join(map(re.escape, longest_first))) if longest_first else None

    def __call__(self, text: str) -> str:
        """Return `text` without the secrets in it."""
        if self._known is not None:
            text = self._known.sub(MASK, text)
        return masked_shapes(text)

    @staticmethod
    def hides(name: str) -> bool:
        """Tell whether what has this name is a secret whatever it looks like, as the argument `api_key`."""
        return is_secret_name(name)


def masked_shapes(text: str) -> str:
    """Return `text` without what looks like a secret, whatever the environment holds."""
    for shape, instead in _SHAPES:
        text = shape.sub(instead, text)
    return text
