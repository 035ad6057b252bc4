"""Lines that are piped in: each is a turn; the answers, and nothing else, go to standard output."""

from __future__ import annotations

from typing import TextIO

from hookagent.cli.chat.commands import obey
from hookagent.cli.chat.conversation import Conversation
from hookagent.cli.chat.signals import ChatSignals
from hookagent.cli.failure import FAILED, USAGE, UsageProblem

_HOW = "pipe in one message a line: printf '...\\n...\\n' | hookagent chat"


def work_through(conversation: Conversation, stream: TextIO | None, signals: ChatSignals) -> int:
    """Work on the lines of `stream` as they come; give the exit code, which is that of the last line.

    A turn that does not complete does not keep the next one from being tried. Commands work as at a terminal; what
    they say goes to standard error. Raises `UsageProblem` for a line that is no text, and when there is none at all.
    """
    code: int | None = None
    number = 0
    while stream is not None and (line := _read(stream, number := number + 1)) is not None:
        if not line.strip():
            continue
        obeyed = obey(line, conversation.console, conversation.agent)
        if obeyed == "leave":
            return code or 0
        if obeyed != "text":
            code = USAGE if obeyed == "refused" else code or 0
            continue
        signals.forget()
        conversation.turn(line)
        code = conversation.code
        if signals.code is not None:
            return signals.code
        if conversation.console.failure is not None:
            return code or FAILED
        if conversation.console.reader_gone:
            return code
    if code is None:
        raise UsageProblem(f"standard input: there is no message; {_HOW}")
    return code


def _read(stream: TextIO, number: int) -> str | None:
    """The next line without its end; None at the end of the input. Raises `UsageProblem`."""
    binary = getattr(stream, "buffer", None)
    try:
        data: bytes = binary.readline() if binary is not None else stream.readline().encode("utf-8", "surrogatepass")
        text = data.decode("utf-8-sig" if number == 1 else "utf-8")
    except UnicodeDecodeError:
        raise UsageProblem(f"standard input:{number}: not UTF-8 text; convert it first (iconv -t utf-8)") from None
    except OSError as error:
        raise UsageProblem(f"standard input: cannot be read: {(error.strerror or str(error)).lower()}") from None
    except ValueError:
        return None
    if "\0" in text:
        raise UsageProblem(f"standard input:{number}: not text: it holds a NUL character; convert it first")
    return text.rstrip("\r\n") if data else None
