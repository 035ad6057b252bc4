"""The request of one model call: everything is in it at first, hooks shape it, and who spoils it is named."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hookagent.around import owned_request
from hookagent.errors import PluginError, RequestRefusedError
from hookagent.events import Compaction
from hookagent.frozen import FrozenDict, freeze
from hookagent.loop.run import Run
from hookagent.providers.base import Provider
from hookagent.requests import BlockView, Request

_NO_SETTINGS = FrozenDict()


def whole_request(run: Run, provider: Provider) -> Request:
    """The request that nobody has shaped yet: everything is in it."""
    box, state = run.box, run.state
    window = provider.context_window
    if window != state.window:
        state.know_window(window)
    settings = box.model_settings
    # By place, which is faster: a request has many fields, and one is made in each round.
    return Request(
        BlockView(state.transcript),
        box.system_prompt,
        None,
        run.tools.tools,
        "none" if run.closing else "auto",
        _frozen(settings) if settings else _NO_SETTINGS,
        (),
        state.protected,
        state.id,
    )


async def shaped(run: Run, request: Request) -> Request:
    """Give a request to each `shape_request`, one after the other; raises `PluginError` for one that must not be."""
    values: list[Any] = [request]
    for implementation, answer in run.dispatch.voices(run.hooks.shape_request, values):
        returned = await answer
        if returned is None or returned.value is None or returned.value is request:
            continue
        before = request
        try:
            request = owned_request(returned.value, before, implementation.plugin)
        except RequestRefusedError as error:
            raise blamed(run, error, "shape_request") from error
        values[0] = request
        _announce(run, implementation.plugin, before, request)
    return request


def is_shorter(request: Request, than: Request) -> bool:
    """Whether a request leaves something out that the other one had, or sends something else in its place."""
    now, before = request.blocks, than.blocks
    return len(now) < len(before) or now.replaced != before.replaced or request.tools != than.tools


def blamed(run: Run, error: RequestRefusedError, hook: str) -> PluginError:
    """The error of the plugin that made a request which cannot be sent, in `hook`."""
    plugin = error.shaped_by or ""
    hooks = run.hooks.shape_request if hook == "shape_request" else run.hooks.wrap_model_call
    distribution = next((one.distribution for one in hooks if one.plugin == plugin), None)
    run.dispatch.failed.add(plugin)
    return PluginError(plugin, distribution, hook, f"made a request that cannot be sent: {error.reason}")


def _announce(run: Run, plugin: str, before: Request, request: Request) -> None:
    """Say that a plugin made the request shorter, once for each shape that it gives it."""
    if not isinstance(request.blocks, BlockView):
        return  # the last check refuses it, and says why
    shape = (request.blocks.start, request.summary)
    known = run.state.shapes.get(plugin, (before.blocks.start, before.summary))
    run.state.shapes[plugin] = shape
    if shape != known:
        blocks, start, summary = len(before.blocks), request.blocks.start, request.summary
        run.emit(Compaction, plugin, blocks, len(request.blocks), summary is not None, start, summary)


def _frozen(settings: Mapping[str, Any]) -> FrozenDict:
    try:
        frozen: FrozenDict = freeze(settings)
    except TypeError:  # no JSON: the provider says which setting it cannot take
        return FrozenDict(settings)
    return frozen
