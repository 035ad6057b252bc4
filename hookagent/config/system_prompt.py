"""`system_prompt: {file: path}`: the text of a file in the place of the mapping."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hookagent.config.discover import displayed
from hookagent.config.positions import Document, KeyPath
from hookagent.config.problems import ConfigError, shown, suggestion
from hookagent.config.source import read_source

_KEY = "system_prompt"
_FILE: KeyPath = (_KEY, "file")


def read_system_prompt(document: Document, working_directory: Path, config_file: Path | None) -> None:
    """Replace `{file: path}` by the text of that file, in place.

    The path starts at the folder of the configuration file where it is written there, else (`-o`) at the working
    directory. A file that cannot be read, is not UTF-8 or is blank is a problem where its path stands.
    """
    prompt = document.data.get(_KEY)
    if not isinstance(prompt, dict) or (_KEY,) in document.broken:
        return
    fault = _fault(document, prompt)
    if not fault and _FILE not in document.broken:
        base = working_directory
        if config_file is not None and document.positions.value(_FILE).line is not None:
            base = config_file.parent
        path = base / prompt["file"]
        try:
            document.data[_KEY] = read_source(path, displayed(path, working_directory))
        except ConfigError as error:
            document.report(_FILE, f"system_prompt.file: {error}")
        else:
            if not document.data[_KEY].strip():
                document.report(_FILE, f"system_prompt.file: {shown(prompt['file'])}: the file is empty")
    if fault or _FILE in document.broken:
        document.broken.add((_KEY,))


def _fault(document: Document, prompt: dict[str, Any]) -> bool:
    """Report what is wrong with the mapping itself; return whether anything was."""
    unknown = [key for key in prompt if key != "file"]
    for key in unknown:
        message = f"unknown key '{document.positions.label((_KEY, key))}'{suggestion(key, ['file'])}"
        document.report((_KEY, key), message, at_key=True)
    if "file" not in prompt:
        if not unknown:
            document.report((_KEY,), "system_prompt is an empty mapping; write text, or '{file: path}'")
        return True
    name = prompt["file"]
    if _FILE not in document.broken and not (isinstance(name, str) and name.strip()):
        document.report(_FILE, "system_prompt.file must be the path of a text file")
    return bool(unknown)
