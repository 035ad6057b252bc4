import pytest

from hookagent.tools.docstrings import read_docstring

GOOGLE = """Search.

    Args:
        q: the words
        mode (str): One of:
            - 'fast': quick
            - 'deep': slow

    Returns:
        The hits.
    """
NUMPY = """Search.

    Parameters
    ----------
    q : str
        the words
    mode : {'fast', 'deep'}, optional
        One of:

        - 'fast': quick
        - 'deep': slow

    Returns
    -------
    str
        The hits.
    """
SPHINX = """Search.

    :param q: the words
    :param str mode: One of:
        - 'fast': quick
        - 'deep': slow
    :return: The hits.
    """


@pytest.mark.parametrize("docstring", [GOOGLE, NUMPY, SPHINX], ids=["google", "numpy", "sphinx"])
def test_descriptions_are_taken_whole_in_every_style(docstring: str) -> None:
    read = read_docstring(docstring)
    assert read.description == "Search."
    assert read.parameters["q"] == "the words"
    assert read.parameters["mode"].startswith("One of:")
    assert "'fast': quick" in read.parameters["mode"]
    assert "'deep': slow" in read.parameters["mode"]


def test_long_descriptions_keep_all_their_lines() -> None:
    read = read_docstring(
        "Search the web.\n\n    Slow: use it once.\n    And with care.\n\n    Args:\n        q: words\n"
    )
    assert read.description == "Search the web.\n\nSlow: use it once.\nAnd with care."


def test_numpy_style_documents_several_at_once() -> None:
    read = read_docstring("Add.\n\nParameters\n----------\na, b : int\n    a number\n")
    assert read.parameters == {"a": "a number", "b": "a number"}


@pytest.mark.parametrize("docstring", [None, "", "  \n "])
def test_no_docstring_is_no_description(docstring: str | None) -> None:
    assert read_docstring(docstring).description == ""


def test_a_docstring_of_no_style_is_the_description() -> None:
    assert read_docstring("Does: this, and that").description == "Does: this, and that"
