"""What is about to be sent to a model: system text, chosen blocks, tools, settings.

A request is a frozen value; a hook that shapes one returns a changed copy. What it may change is held by
the methods here and checked again before anything is sent (design, "Windows keep rounds whole").
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, overload

from hookagent.frozen import FrozenDict
from hookagent.quick_values import made_quickly
from hookagent.transcript import Block, ToolRound, Transcript

if TYPE_CHECKING:
    from hookagent.tools.tool import Tool


_put = object.__setattr__
_NOTHING_REPLACED: Mapping[int, ToolRound] = MappingProxyType({})


class BlockView(Sequence[Block]):
    """The blocks of a request: some kept ones, then everything from `start` on, perhaps with shorter results.

    It holds no copy of the transcript, so a request costs the same at any length. `kept` are indexes below
    `start`, ascending; `replaced` maps an index to the round that stands there instead.
    """

    __slots__ = ("kept", "replaced", "size", "start", "transcript")
    size: int
    transcript: Transcript
    start: int
    kept: tuple[int, ...]
    replaced: Mapping[int, ToolRound]

    def __init__(
        self,
        transcript: Transcript,
        start: int = 0,
        kept: tuple[int, ...] = (),
        replaced: Mapping[int, ToolRound] = _NOTHING_REPLACED,
    ) -> None:
        view: Any = self
        size = len(kept) + len(transcript) - start  # a snapshot does not grow
        if type(replaced) is not MappingProxyType:
            replaced = MappingProxyType(dict(replaced))
        if type(self) is not BlockView:  # a subclass, which may be laid out otherwise
            for name, value in zip(BlockView.__slots__, (kept, replaced, size, start, transcript), strict=True):
                _put(view, name, value)
            return
        # Its slots are filled in a twin that is not frozen, which is three times as fast (see `quick_values`).
        _put(view, "__class__", _OpenView)
        view.transcript = transcript
        view.start = start
        view.kept = kept
        view.size = size
        view.replaced = replaced
        view.__class__ = BlockView

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a view of blocks is frozen; '{name}' cannot be set (use the methods of the request)")

    def __len__(self) -> int:
        return self.size

    def index_of(self, position: int) -> int:
        """The transcript's index of the block at `position` of this view."""
        kept = self.kept
        return kept[position] if position < len(kept) else position - len(kept) + self.start

    @overload
    def __getitem__(self, index: int) -> Block: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Block]: ...
    def __getitem__(self, index: int | slice) -> Block | Sequence[Block]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        if index < 0:
            index += len(self)
        if not 0 <= index < len(self):
            raise IndexError("block index out of range")
        place = self.index_of(index)
        return self.replaced.get(place) or self.transcript[place]

    def __iter__(self) -> Iterator[Block]:
        transcript, replaced = self.transcript, self.replaced
        for place in self.kept:
            yield replaced.get(place) or transcript[place]
        for place in range(self.start, len(transcript)):
            yield replaced.get(place) or transcript[place]


class _OpenView(Sequence[Block]):
    """A `BlockView` that is being made: of the same layout, and not yet frozen."""

    __slots__ = BlockView.__slots__
    __getitem__ = BlockView.__getitem__
    __len__ = BlockView.__len__


@dataclass(frozen=True, slots=True)
class Note:
    """A text that is sent at the tail of one request and never stored; `origin` is set by the host."""

    text: str
    origin: str = ""


@made_quickly
@dataclass(frozen=True, slots=True)
class Request:
    """What one model call is made of.

    `protected` are the transcript indexes of the first task and the newest user message, which cannot be
    dropped; `summary` stands behind the first task; `notes` stand at the tail, user-role; `settings` are
    `model_settings` in the common vocabulary. `output_schema` (a JSON schema) asks for an answer in that
    shape by the vendor's own structured output, under the name `output_name`. `shaped_by` is the last
    plugin that changed it.
    """

    blocks: BlockView
    system: str = ""
    summary: str | None = None
    tools: tuple[Tool, ...] = ()
    tool_choice: Literal["auto", "none"] = "auto"
    settings: Mapping[str, Any] = field(default_factory=FrozenDict)
    notes: tuple[Note, ...] = ()
    protected: tuple[int, ...] = ()
    session_id: str = ""
    shaped_by: str | None = None
    output_schema: Mapping[str, Any] | None = None
    output_name: str = "output"

    def dropping_before(self, start: int) -> Request:
        """Keep only the blocks from transcript index `start` on, and what is protected or was kept by name before.

        Whole blocks, always; what another plugin left out does not come back.
        """
        view = self.blocks
        start = max(view.start, min(start, len(view.transcript)))
        kept = tuple(sorted({*view.kept, *(index for index in self.protected if view.start <= index < start)}))
        return replace(self, blocks=BlockView(view.transcript, start, kept, view.replaced))

    def with_summary(self, summary: str | None) -> Request:
        """Put a summary behind the first task; None takes it away."""
        return replace(self, summary=summary)

    def with_result_text(self, index: int, call_id: str, content: str) -> Request:
        """Send `content` instead of one result's text; calls and ids stay. `index` is the round's transcript index.

        Raises KeyError when there is no such round or call.
        """
        block = self.blocks.replaced.get(index) or self.blocks.transcript[index]
        if not isinstance(block, ToolRound):
            raise KeyError(f"block {index} is not a tool round")
        block.result_of(call_id)
        replaced = {**self.blocks.replaced, index: block.with_result_text(call_id, content)}
        view = self.blocks
        return replace(self, blocks=BlockView(view.transcript, view.start, view.kept, replaced))

    def with_rounds(self, rounds: Mapping[int, ToolRound]) -> Request:
        """Send these rounds instead of those at their transcript indexes; only results' texts may differ."""
        view = self.blocks
        replaced = MappingProxyType({**view.replaced, **rounds})
        return replace(self, blocks=BlockView(view.transcript, view.start, view.kept, replaced))

    def with_note(self, text: str) -> Request:
        """Add a passing note at the tail: sent with this request, user-role, not stored."""
        return replace(self, notes=(*self.notes, Note(text)))

    def with_tools(self, tools: Sequence[Tool]) -> Request:
        """Offer other tools in this request."""
        return replace(self, tools=tuple(tools))

    def with_settings(self, **settings: Any) -> Request:
        """Change model settings for this request."""
        return replace(self, settings=FrozenDict({**self.settings, **settings}))

    def first_task(self) -> int | None:
        """The transcript index of the session's first task, or None."""
        return self.protected[0] if self.protected else None
