"""What does not fit a schema is told once, however many ways the schema finds it."""

from beforehand.engine.schemas import misfits


def test_several_missing_fields_are_told_in_one_sentence() -> None:
    schema = {"type": "object", "properties": {"a": {}, "b": {}}, "required": ["a", "b"]}
    assert misfits(schema, {}, "answer") == ["answer needs 'a', 'b'."]


def test_a_list_of_the_wrong_length_is_told_by_its_length() -> None:
    schema = {"type": "array", "minItems": 1, "maxItems": 2}
    assert misfits(schema, [{"long": "x" * 500}] * 3, "steps") == ["steps must have at most 2 items, not 3."]
    assert misfits(schema, [], "steps") == ["steps must have at least 1 item, not 0."]
