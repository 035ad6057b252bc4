"""The plugin `human-approval`: a person is asked before a call may change something."""

from hookagent_human_approval.decisions import Decided
from hookagent_human_approval.plugin import HumanApproval
from hookagent_human_approval.terminal import Terminal

__all__ = ["Decided", "HumanApproval", "Terminal"]
