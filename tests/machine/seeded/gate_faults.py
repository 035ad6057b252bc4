"""Faults of the gates: verdicts overruled, arguments that run unseen, answers that hold nothing."""

from __future__ import annotations

from tests.machine.seeded.fault import Fault

FAULTS = (
    Fault(
        "gates-amend-undoes-deny",
        "An amendment wipes out a denial that another plugin gave before.",
        "hookagent/loop/calls.py",
        """        self.call = replace(self.call, arguments=frozen, raw=None, problem=None)
        self.problem = None
""",
        """        self.call = replace(self.call, arguments=frozen, raw=None, problem=None)
        self.problem = self.verdict = None
""",
    ),
    Fault(
        "gates-suspended-not-shown-again",
        "An amended call that is suspended as well is not put to the other gates a second time.",
        "hookagent/loop/gates.py",
        "if state.amended_by is not None and state.looked_at is not state.call]",
        "if state.amended_by is not None and state.looked_at is not state.call and not state.suspended]",
    ),
    Fault(
        "gates-amender-asked-nowhere",
        "Of a plugin that amended a call in one hook the other hook is not asked again either.",
        "hookagent/loop/gates.py",
        "    return state.amended_by == (implementation.plugin, implementation.hook) and state.edited_by is None\n",
        "    return (state.amended_by or ('',))[0] == implementation.plugin and state.edited_by is None\n",
    ),
    Fault(
        "gates-late-amendment-applied",
        "An amendment that comes when the arguments stand is applied instead of being a denial.",
        "hookagent/loop/gates.py",
        "    elif not final and not state.answered:\n",
        "    elif not state.answered:\n",
    ),
    Fault(
        "gates-edit-unseen",
        "What a person edited is run without being put to the gates.",
        "hookagent/loop/answers.py",
        "        if edited:\n",
        "        if edited and any(state.suspended for state in edited):\n",
    ),
    Fault(
        "gates-suspend-over-deny",
        "Asking a person counts as stricter than a denial, so that a yes lets a denied call run.",
        "hookagent/verdicts.py",
        "tuple[type, ...] = (Amend, Suspend, Deny, Stop)",
        "tuple[type, ...] = (Amend, Deny, Suspend, Stop)",
    ),
    Fault(
        "gates-unanswered-forgotten",
        "A denial because nobody could be asked leaves the run completed instead of refused.",
        "hookagent/loop/answers.py",
        """        if answer.unanswered:
            run.refuse(implementation, answer.reason)
        return False
""",
        """        return False
""",
    ),
)
