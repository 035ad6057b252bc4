"""A terminal with an editor: lines are typed while the agent works, and steer it or wait for it."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Callable, Sequence
from typing import Any

from hookagent.cli.chat.commands import obey
from hookagent.cli.chat.conversation import Conversation
from hookagent.cli.chat.editor import Editor
from hookagent.cli.chat.history import History
from hookagent.cli.chat.line_mode import LEAVING
from hookagent.cli.chat.screen import ScreenStream
from hookagent.cli.chat.signals import ENDING, still_ending
from hookagent.cli.chat.view import MARK, said
from hookagent.cli.failure import INTERRUPTED, TERMINATED, report
from hookagent.cli.signals import REASONS, leave_now
from hookagent.terminal import own_terminal
from hookagent.tools.threads import ThreadPool

_PATIENCE = 2
"""How often Ctrl-C waits for the turn to end in order."""


def talk_with_editor(conversation: Conversation, history: History, leave: Callable[[int], object] = leave_now) -> int:
    """Let a person and the agent talk until the person leaves; give the exit code.

    `leave` ends the process with a code; it is called when a turn that does not end is left behind.
    """
    return asyncio.run(EditorChat(conversation, history, leave).run())


class EditorChat:
    """The chat behind `editor`, which tells it of every line and key; `terminal` goes to the editor (input, output)."""

    def __init__(
        self, conversation: Conversation, history: History, leave: Callable[[int], object] = leave_now, **terminal: Any
    ) -> None:
        self._conversation, self._history, self._leave, self._terminal = conversation, history, leave, terminal
        self.editor: Editor
        self._turns: asyncio.Task[None] | None = None
        # Daemon threads: one that hangs in a turn must not hold the process.
        self._threads = ThreadPool()
        self._interrupts = 0
        self._warned = False
        self._left: int | None = None

    async def run(self) -> int:
        """Talk until the person leaves; give the exit code."""
        self.editor = Editor(self, self._history.lines, **self._terminal)
        screen = self.editor.screen
        with contextlib.ExitStack() as stack:
            stack.enter_context(self._conversation.console.shown_by(screen))
            stack.enter_context(contextlib.redirect_stdout(ScreenStream(screen)))
            stack.enter_context(contextlib.redirect_stderr(ScreenStream(screen)))
            stack.enter_context(own_terminal(self.editor))
            stack.callback(self._listen_for_the_end())
            await self.editor.run()
        code = self._left if self._left is not None else 0
        if self._turns is not None:
            if self._interrupts > _PATIENCE:
                self._leave(code)
            await asyncio.wait({self._turns})
        return code

    # ---- what the editor tells ----

    def submit(self, text: str, *, follow_up: bool) -> None:
        """Obey a command, start a turn, or queue for the one that is under way."""
        self._warned = False
        if not text.strip() or self._left is not None:
            return
        self._history.add(text)
        agent = self._conversation.agent
        obeyed = obey(text, self._conversation.console, agent)
        if obeyed == "leave":
            self.end()
        elif obeyed != "text":
            return
        elif self._turns is None:
            self.editor.write(said(text))
            self._interrupts = 0
            self._turns = asyncio.ensure_future(self._work(text))
        else:
            later = text.removeprefix(">").strip() if text.startswith(">") else ""
            if later or follow_up:
                agent.follow_up(later or text)
            else:
                agent.steer(text)

    def interrupt(self) -> None:
        """Stop the turn; without one, the second time in a row leaves."""
        conversation = self._conversation
        if self._turns is None:
            if self._warned:
                self._go(INTERRUPTED)
                return
            self._warned = True
            conversation.console.say(LEAVING)
            return
        self._interrupts += 1
        if self._interrupts > _PATIENCE:
            if self._left is None:
                self._left = INTERRUPTED
            self.editor.leave()
            return
        conversation.console.say(ENDING if self._interrupts == 1 else still_ending())
        conversation.abort(REASONS[signal.SIGINT])

    def end(self) -> None:
        """Leave in order."""
        self._go(0)

    def busy(self) -> bool:
        """Whether a turn is under way."""
        return self._turns is not None

    def queued(self) -> Sequence[str]:
        """What waits to go in."""
        agent = self._conversation.agent
        return [
            *(f"{MARK}{one.text}" for one in agent.steering.peek()),
            *(f"{MARK}{MARK}{one.text}" for one in agent.follow_ups.peek()),
        ]

    # ---- inside ----

    async def _work(self, prompt: str) -> None:
        """Work on a prompt, and on what came just too late to be taken along."""
        conversation, agent = self._conversation, self._conversation.agent
        try:
            next_prompt: str | None = prompt
            while True:
                completed = await self._threads.run(conversation.turn, next_prompt)
                if not completed or self._left is not None or not (agent.steering or agent.follow_ups):
                    break
                next_prompt = None
            rest = [*agent.steering.clear(), *agent.follow_ups.clear()]
            if rest:
                # Nobody loses what was typed; whether it is still meant is for them to say.
                self.editor.insert("\n".join(message.text for message in rest))
        except Exception as error:
            report(conversation.console, error, conversation.wishes.debug)
        finally:
            self._turns = None
            if self._left is not None:
                self.editor.leave()

    def _go(self, code: int) -> None:
        """Leave with `code`, once the turn that is under way has ended."""
        if self._left is None:
            self._left = code
        if self._turns is None:
            self.editor.leave()
        else:
            self._conversation.abort(REASONS[signal.SIGTERM] if code == TERMINATED else "the chat was left")

    def _listen_for_the_end(self) -> Callable[[], None]:
        """Leave in order at SIGTERM, where signals can be listened to; returns what ends that."""
        loop = asyncio.get_running_loop()
        try:
            loop.add_signal_handler(signal.SIGTERM, self._go, TERMINATED)
        except (NotImplementedError, RuntimeError, ValueError):
            return lambda: None

        def forget() -> None:
            loop.remove_signal_handler(signal.SIGTERM)

        return forget
