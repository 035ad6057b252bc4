"""Tools: schema from a signature, validation, execution, and the built-in sets."""
