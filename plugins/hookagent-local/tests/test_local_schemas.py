import json
from typing import Any, Literal

from hookagent import Tool
from hookagent_local.schemas import schemas_for_engine


def paint(color: Literal["red", "blue"], title: str = "a; b", additionalProperties: int = 0) -> str:
    """Paint a wall (or a door); it dries fast. Take care.

    Args:
        color: The color. It lasts.
        title: What to call it; anything goes.
    """
    return color


def test_descriptions_are_short_and_the_fine_print_is_gone() -> None:
    (schema,) = json.loads(schemas_for_engine([Tool.from_callable(paint)]))
    assert schema["name"] == "paint"
    assert schema["description"] == "Paint a wall."
    assert "additionalProperties" not in schema["parameters"]
    assert schema["parameters"]["required"] == ["color"]
    assert schema["parameters"]["properties"]["color"] == {
        "description": "The color.",
        "enum": ["red", "blue"],
        "type": "string",
    }


def test_what_the_author_named_and_gave_is_kept() -> None:
    properties = json.loads(schemas_for_engine([Tool.from_callable(paint)]))[0]["parameters"]["properties"]
    assert list(properties) == ["color", "title", "additionalProperties"]
    assert properties["title"]["default"] == "a; b"


def test_the_order_is_kept_and_a_tool_without_words_is_fine() -> None:
    def quiet(settings: dict[str, Any]) -> None: ...

    tools = [Tool.from_callable(quiet, description=""), Tool.from_callable(paint)]
    schemas = json.loads(schemas_for_engine(tools))
    assert [one["name"] for one in schemas] == ["quiet", "paint"]
    assert schemas[0]["description"] == ""
