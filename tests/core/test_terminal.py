"""Who owns the terminal: the newest who says so, until they say no more."""

from __future__ import annotations

import contextlib
from contextlib import AbstractAsyncContextManager

import pytest

from hookagent import own_terminal, terminal_owner


class Owner:
    width = 80

    async def ask(self, prompt_text: str) -> str | None:
        return None

    def write(self, text: str) -> None:
        pass

    def stand_aside(self) -> AbstractAsyncContextManager[None]:
        return contextlib.nullcontext()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Owner)

    __hash__ = None  # type: ignore[assignment]


def test_nobody_owns_it_at_first_and_nobody_afterwards() -> None:
    owner = Owner()
    assert terminal_owner() is None
    with own_terminal(owner):
        assert terminal_owner() is owner
    assert terminal_owner() is None


def test_the_one_before_comes_back_in_whatever_order_they_leave() -> None:
    first, second = Owner(), Owner()
    with contextlib.ExitStack() as outer, contextlib.ExitStack() as inner:
        outer.enter_context(own_terminal(first))
        inner.enter_context(own_terminal(second))
        assert terminal_owner() is second
        outer.close()
        assert terminal_owner() is second
    assert terminal_owner() is None


def test_an_owner_that_fails_owns_it_no_more() -> None:
    with pytest.raises(RuntimeError, match="gone"), own_terminal(Owner()):
        raise RuntimeError("gone")
    assert terminal_owner() is None
