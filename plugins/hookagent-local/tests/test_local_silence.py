"""Nothing leaves the process: proved with a detector that is itself proved to work."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

RunScript = Callable[..., "subprocess.CompletedProcess[str]"]

# Switches as a user, or the machine, may have set them: all for being counted.
LOUD = {"NEEDLE_TELEMETRY": "1", "DO_NOT_TRACK": ""}

DETECTOR = """
import sys, threading

attempts = []

def watch(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto", "socket.sendmsg"):
        attempts.append(event)
        raise PermissionError(f"{event} is not allowed here")

sys.addaudithook(watch)

def report():
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.name.startswith("hookagent-"):
            thread.join(60)
    print("attempts:", attempts)
"""

RUN = """
from hookagent import Agent
from hookagent_local import LocalProvider

agent = Agent(tools=["files"], model=LocalProvider())
for task in ("How many words are in README.md?", "What is the capital of France?", "read LICENSE"):
    print(agent.run_sync(task).answer.splitlines()[0])
"""


def test_the_engine_alone_would_call_home_and_the_detector_sees_it(run_script: RunScript) -> None:
    done = run_script(
        DETECTOR
        + """
import needle
needle.Needle(tools="[]").complete("hello")
report()
""",
        **LOUD,
    )
    assert done.stdout.strip() == "attempts: ['socket.getaddrinfo']", done.stderr


def test_no_connection_is_tried_and_no_name_looked_up(run_script: RunScript, folder: Path) -> None:
    done = run_script(DETECTOR + RUN + "report()", **LOUD)
    lines = done.stdout.splitlines()
    assert lines[0].startswith("README.md: 98 words"), done.stderr
    assert lines[-1] == "attempts: []"
    assert done.stderr == ""
    # The engine would keep an id of the machine there.
    assert not (folder / "home").exists()


def test_the_users_own_hub_switch_is_as_before(run_script: RunScript) -> None:
    text = RUN + "import os; print(os.environ.get('HF_HUB_OFFLINE'))"
    assert run_script(text, HF_HUB_OFFLINE="0").stdout.splitlines()[-1] == "0"
    assert run_script(text + "\nassert 'huggingface_hub' not in __import__('sys').modules").returncode == 0


def test_the_native_library_opens_no_internet_socket_either(run_script: RunScript, folder: Path) -> None:
    strace = shutil.which("strace")
    if strace is None:
        pytest.skip("needs strace, to see the system calls of native code")
    if subprocess.run([strace, "-o", "/dev/null", "true"], capture_output=True, check=False).returncode:
        pytest.skip("strace may not trace here")
    log = folder / "trace.log"
    done = run_script(RUN, strace, "-f", "-e", "trace=socket,connect,sendto,sendmsg", "-o", str(log), **LOUD)
    assert done.stdout.startswith("README.md: 98 words"), done.stderr
    calls = log.read_text()
    # The event loop's own wake-ups are there, so the trace is a real one.
    assert "sendto(" in calls
    assert "AF_INET" not in calls
