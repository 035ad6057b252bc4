"""Texts that are nearly configurations: whole ones and what mutations make of them, and texts made to do harm."""

from __future__ import annotations

import yaml
from hypothesis import strategies as st

WHOLE = (
    """\
model: anthropic:claude-sonnet-5
model_settings: {max_output_tokens: 4096, effort: medium}
system_prompt: You tidy data folders.
tools: [files, "mypkg.tools:search"]
plugins:
  - tool-logging
  - context-window: {window: 200000, warn_at: 80, strategy: summarize}
  - use: human-approval
    with: {ask: ["write_*", shell], allow: [read_file, "shell(command=git status*)"]}
    on_error: fail
limits: {max_iterations: 20, max_tool_calls: 60, max_tokens: 200000, max_cost_usd: 0.50, max_seconds: 300}
""",
    """\
# with anchors, merges and variables
base: &base {max_iterations: 3}
limits:
  <<: *base
  max_seconds: 60
system_prompt: |
  Say ${NAME:-nothing}, then ${OTHER:-more}.
  $$5 is the price.
model_settings:
  temperature: 0.5
  stop: ['a', "b\\n"]
  openai: {user: "${USER:-u}"}
tool_execution: sequential
""",
    "plugins:\n- tool-logging:\n    file: 'log.jsonl'\n    max_chars: 100\n- {use: reflection, time_limit: 3.5}\n",
    "{}\n",
)
WHOLE_TOML = (
    """\
[project]
name = "x"
[tool.hookagent]
model = "openai:gpt-5"
tools = ["files", "shell"]
limits.max_iterations = 4
[tool.hookagent.model_settings]
temperature = 0.5
openai = {user = "u", when = 2026-01-01}
[[tool.hookagent.plugins]]
use = "tool-logging"
with = {max_chars = 70, deep = {x = "${X:-y}"}}
""",
    '[tool.hookagent]\nsystem_prompt = """\n[tool.other]\nmodel = "not this"\n"""\nplugins = ["reflection"]\n',
)
PIECES = (
    *("- : , ? & * ! | > @ ` % # [ ] { } ' \" \\ ~ <<: --- ... &a *a *b !!python/object:os.system !!int !t <<".split()),
    *("null true false yes 0x1f 0o17 1e999 -.inf .nan 1_000 12:30:45 2026-01-01 0b1 = \ufeff".split()),
    *("${ ${A} ${A:- ${A:-b} $$ $ [[ ]] [tool.hookagent] \"\"\" ''' = . a.b.c=".split()),
    *("model: limits: plugins: tools: use: with: on_error: max_iterations: system_prompt: {file: x}".split()),
    *(" ", "  ", "\t", "\n", "\r", "\r\n", "\x85", "\u2028", "\u2029", "\0", "\x1b[2J", "\x7f", "\ud800", "\U0010ffff"),
    *('"\\ud800"', '"\\0"', '"\\UFFFFFFFF"', "\\", "a" * 300, "9" * 500, "- " * 60, "[" * 60, "{a: " * 60, "\n  - x"),
)


@st.composite
def mutated(draw: st.DrawFn, whole: tuple[str, ...] = WHOLE) -> str:
    """One of the whole texts with up to six changes: something put in, taken out, doubled or moved."""
    text = draw(st.sampled_from(whole))
    for _ in range(draw(st.integers(1, 6))):
        start = draw(st.integers(0, len(text)))
        end = draw(st.integers(start, min(len(text), start + 40)))
        piece = draw(st.sampled_from(PIECES) | st.text(max_size=4))
        match draw(st.sampled_from("put take change double move".split())):
            case "put":
                text = text[:start] + piece + text[start:]
            case "take":
                text = text[:start] + text[end:]
            case "change":
                text = text[:start] + piece + text[end:]
            case "double":
                text = text[:end] + text[start:end] + text[end:]
            case _:
                text = text[:start] + text[end:] + text[start:end]
    return text


KEYS = st.sampled_from(
    "model model_settings system_prompt tools plugins limits max_iterations max_tokens use with on_error time_limit "
    "file temperature effort openai tool_execution tool_result_limit A 1 é".split()
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(PIECES) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS | st.text(max_size=3), inner, max_size=4),
    max_leaves=12,
)
SHAPED = st.dictionaries(KEYS, VALUES, max_size=6).map(lambda value: yaml.safe_dump(value, allow_unicode=True))
"""YAML that is whole, under keys that are known, with values of any shape."""

ENCODINGS = st.sampled_from("utf-8-sig utf-16 utf-16-le utf-32 latin-1 cp037 shift_jis utf-7".split())


def encoded(text: str, encoding: str) -> bytes:
    """The text in an encoding, with what it does not have left out."""
    return text.encode(encoding, "ignore")


def harmful(scale: int) -> dict[str, str]:
    """Texts that grow with `scale`, each made to cost far more than its length."""
    doubled = "\n".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, scale))
    merged = "\n".join(f"m{n}: &m{n} {{<<: [*m{n - 1}, *m{n - 1}], k{n}: 1}}" for n in range(1, scale))
    return {
        "aliases that double": f"a0: &a0 [x, x]\n{doubled}\n",
        "merges that double": f"m0: &m0 {{k: 1}}\n{merged}\n",
        "a list in a list": "tools: " + "[" * scale,
        "a mapping in a mapping": "{a: " * scale,
        "blocks in blocks": "".join(f"{' ' * n}a:\n" for n in range(min(scale, 800))),
        "dashes": "- " * scale,
        "a long key": f"{'k' * scale}: 1\n",
        "a long question": f"? {'k' * scale}\n: 1\n",
        "many keys": "".join(f"k{n}: 1\n" for n in range(scale)),
        "one key many times": "model: a\n" * scale,
        "many anchors": "".join(f"k{n}: &x{n} 1\n" for n in range(scale)),
        "a number without end": f"limits: {{max_iterations: {'9' * scale}}}\n",
        "an exponent without end": f"limits: {{max_cost_usd: 1e{'9' * scale}}}\n",
        "hexadecimal without end": f"limits: {{max_iterations: 0x{'f' * scale}}}\n",
        "minutes and seconds": f"limits: {{max_iterations: {'1:' * scale}1}}\n",
        "variables in a row": f"model: '{'${A:-b}' * scale}'\n",
        "variables in variables": f"model: '{'${A:-' * scale}{'}' * scale}'\n",
        "dollars": f"model: '{'$' * scale}'\n",
        "documents": "---\n" * scale,
        "comments": "#\n" * scale,
        "quotes": '"' * scale,
        "escapes": f'model: "{chr(92)}x41{"" if scale < 2 else (chr(92) + "x41") * (scale - 1)}"\n',
        "tags": "model: " + "!a " * scale + "x\n",
        "plugins": "plugins:\n" + "- a: {}\n" * scale,
        "plugins of all names": "plugins:\n" + "".join(f"- p{n}\n" for n in range(scale)),
        "unknown keys": "limits: {" + ", ".join(f"max_iteration{n}: 1" for n in range(scale)) + "}\n",
        "spaces": f"model:{' ' * scale}x\n",
        "a folded text": "model: >\n" + "  word\n\n" * scale,
    }


def harmful_toml(scale: int) -> dict[str, str]:
    """The same in TOML."""
    head = "[tool.hookagent]\n"
    return {
        "a list in a list": f"{head}tools = {'[' * scale}",
        "a table in a table": f"{head}a = {'{a = ' * scale}",
        "a key of many parts": f"{head}{'a.' * scale}a = 1\n",
        "a header of many parts": f"[tool.hookagent{'.a' * scale}]\nb = 1\n",
        "many tables": head + "".join(f"[tool.hookagent.a{n}]\n" for n in range(scale)),
        "many plugins": "[[tool.hookagent.plugins]]\nuse = 'a'\n" * scale,
        "a number without end": f"{head}limits.max_iterations = {'9' * scale}\n",
        "an exponent without end": f"{head}limits.max_cost_usd = 1e{'9' * scale}\n",
        "a long text": f'{head}model = """{"a" * scale}"""\n',
        "quotes": f"{head}model = {chr(34) * scale}",
        "many keys": head + "".join(f"k{n} = 1\n" for n in range(scale)),
        "inline keys": f"{head}limits = {{{', '.join(f'k{n} = 1' for n in range(scale))}}}\n",
        "comments": head + "#\n" * scale,
    }
