"""What tools take and give at their edges: values that fail while they are read, cuts, and threads that are taken."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, Mapping
from queue import Empty, SimpleQueue
from typing import Any

import pytest

from hookagent.tools import threads
from hookagent.tools.arguments import parse_arguments
from hookagent.tools.text import bounded_text, to_text
from hookagent.tools.threads import ThreadPool


class Breaking(Mapping[str, Any]):
    """A mapping that gives these pairs and then raises."""

    def __init__(self, error: BaseException, **pairs: Any) -> None:
        self._error = error
        self._pairs = pairs

    def __getitem__(self, key: str) -> Any:
        if key == "last":
            raise self._error
        return self._pairs[key]

    def __iter__(self) -> Iterator[str]:
        yield from self._pairs
        yield "last"

    def __len__(self) -> int:
        return len(self._pairs) + 1


class Disguised:
    """A value that raises when it is asked for its class."""

    def __init__(self, error: BaseException) -> None:
        self._error = error

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        raise self._error


class Coy(tuple[Any, ...]):
    """A tuple that does not tell whether it has names."""

    @property
    def _fields(self) -> Any:
        raise ValueError("not yours")


class Silent:
    """A value whose text form raises."""

    def __init__(self, error: BaseException) -> None:
        self._error = error

    def __str__(self) -> str:
        raise self._error


def test_a_mapping_that_breaks_off_is_shown_as_far_as_it_goes() -> None:
    rest = '"<the rest>": "<reading on raised OSError>"'
    assert to_text(Breaking(OSError())) == f"{{{rest}}}"
    assert to_text(Breaking(OSError(), a=1, b=[2])) == f'{{"a": 1, "b": [2], {rest}}}'
    assert to_text([Breaking(OSError(), a=1), 5]) == f'[{{"a": 1, {rest}}}, 5]'


def test_a_value_that_breaks_is_told_where_it_stands() -> None:
    assert to_text([1, Disguised(ValueError()), 2]) == '[1, "<Disguised: its text form raised ValueError>", 2]'
    assert to_text([1, Coy()]) == '[1, "<Coy: its text form raised ValueError>"]'
    assert to_text(Coy()) == "<Coy: its text form raised ValueError>"
    assert to_text(Silent(ValueError())) == "<Silent: its text form raised ValueError>"


@pytest.mark.parametrize(
    "value",
    [
        Silent(KeyboardInterrupt()),
        [Silent(KeyboardInterrupt())],
        [Disguised(KeyboardInterrupt())],
        Breaking(KeyboardInterrupt(), a=1),
    ],
)
def test_ctrl_c_is_no_failure_of_a_value(value: Any) -> None:
    with pytest.raises(KeyboardInterrupt):
        to_text(value)


def test_a_set_that_is_too_large_to_be_sorted_is_shown_whole() -> None:
    numbers = to_text(set(range(10_001)))
    assert sorted(int(one) for one in numbers.strip("[]").split(", ")) == list(range(10_001))


def test_a_cut_among_marks_that_never_end_is_made_all_the_same() -> None:
    text = "e" + 400 * "\u0301"
    cut = bounded_text(text, 100)
    head, notice, tail = cut.split("\n")
    assert notice == f"[… {401 - len(head) - len(tail)} of 401 characters left out …]"
    assert (head[0], len(head), len(tail)) == ("e", 50 - 32, 50 - 32)


@pytest.mark.parametrize(
    ("text", "key"),
    [('{"a": 1, "b": 2, "b": 3}', "b"), ('{"x": {"a": [1], "b": 1, "a": 2}}', "a"), ('{"a": 1, "a": [1]}', "a")],
)
def test_a_key_that_stands_twice_is_named(text: str, key: str) -> None:
    arguments, problem = parse_arguments(text)
    assert arguments is None
    assert problem is not None
    assert f"key '{key}' stands twice in one object" in problem


def test_a_thread_that_cannot_be_started_is_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    async def main() -> str:
        pool = ThreadPool(max_threads=1)
        with monkeypatch.context() as patched:
            patched.setattr(threading.Thread, "start", refuse)
            with pytest.raises(RuntimeError, match="can't start new thread"):
                pool.run(str)
        assert pool.thread_count == 0
        return await pool.run(lambda: "done")

    assert asyncio.run(main()) == "done"


class Hesitating(SimpleQueue[Any]):
    """The queue of a thread that finds nothing to do at first, although somebody has just given it a job."""

    idle = threading.Event()
    given = threading.Event()

    def get(self, block: bool = True, timeout: float | None = None) -> Any:
        if timeout is None or self.given.is_set():
            return super().get(block, timeout)
        self.idle.set()
        assert self.given.wait(30)
        raise Empty


def test_a_thread_that_is_taken_while_it_gives_up_waiting_does_the_job(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "SimpleQueue", Hesitating)

    async def main() -> tuple[int, int, int]:
        pool = ThreadPool(idle_seconds=60.0)
        first = await pool.run(threading.get_ident)
        assert await asyncio.to_thread(Hesitating.idle.wait, 30)
        second = pool.run(threading.get_ident)
        Hesitating.given.set()
        return first, await second, pool.thread_count

    first, second, count = asyncio.run(main())
    assert first == second
    assert count == 1
