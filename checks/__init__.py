"""The project's own checks, run by tox: import floors, house rules, types, packages, plugin folders."""
