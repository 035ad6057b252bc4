"""`hookagent chat`: several turns in one session, and a say in them while they run.

`command` picks how lines come in: `editor_mode` (a terminal and prompt_toolkit), `line_mode` (a terminal) or `pipe`.
All of them let `conversation` run the turns; `view` shows them, `commands` is what begins with a slash.
"""
