"""As parallel as it may be, and never more: a drafted plan's dependencies, checked against what they order."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beforehand.app.extensions import built_in_extensions
from beforehand.app.settings import load_settings
from beforehand.crafts.drafting.core.shaping import remarks_on, shaped
from beforehand.engine.graph import dependencies, find_cycles
from beforehand.engine.tool_catalog import ToolCatalog
from beforehand.model.plan import Step

CATALOG: ToolCatalog = built_in_extensions(load_settings({}, {})).catalog


def step(name: str, tool: str, *needs: str, **args: Any) -> Step:
    return Step(id=name, tool=tool, depends_on=needs, args=args)


def needs_of(steps: tuple[Step, ...]) -> dict[str, set[str]]:
    return {one.id: set(one.depends_on) for one in steps}


def before(steps: tuple[Step, ...] | list[Step]) -> set[tuple[str, str]]:
    """Every pair of which the first is done before the second begins."""
    needs = {one.id: set(dependencies(one)) for one in steps}
    pairs: set[tuple[str, str]] = set()
    for name in needs:
        stack = list(needs[name])
        while stack:
            need = stack.pop()
            if (need, name) not in pairs:
                pairs.add((need, name))
                stack += needs[need]
    return pairs


def test_what_another_dependency_implies_goes() -> None:
    made, notes = shaped(
        [step("a", "wait", seconds=1), step("b", "wait", "a", seconds=1), step("c", "wait", "a", "b", seconds=1)],
        CATALOG,
    )
    assert needs_of(made) == {"a": set(), "b": {"a"}, "c": {"b"}}
    assert notes == ["1 needless dependency left out, so that more can run at once."]


def test_looks_do_not_wait_for_each_other_but_what_changes_waits_for_both() -> None:
    steps = [
        step("a", "read_file", path="a"),
        step("b", "read_file", "a", path="b"),
        step("c", "read_file", "b", path="c"),
        step("gone", "delete_file", "c", path="a"),
        step("sum", "write_file", "c", path="sum", content="${a} ${b} ${c}"),
    ]
    made, _ = shaped(steps, CATALOG)
    needs = needs_of(made)
    assert needs["b"] == needs["c"] == set()
    assert needs["gone"] == {"a", "b", "c"}, "nothing is deleted before it was read"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (step("a", "wait", seconds=5), step("b", "wait", "a", seconds=5)),
        (step("a", "ask_person", question="?"), step("b", "ask_person", "a", question="?")),
        (step("a", "read_file", path="a"), step("b", "list_dir", "a", path=".")),
        (step("a", "write_file", path="a", content="x"), step("b", "write_file", "a", path="b", content="x")),
        (step("a", "read_file", path="a"), step("b", "read_file", path="$a")),
    ],
    ids=["time", "questions", "different tools", "changes", "uses its value"],
)
def test_what_may_matter_stays(first: Step, second: Step) -> None:
    user = step("user", "write_file", path="u", content="$a") if first.tool != "wait" else step("user", "wait", "b")
    made, _ = shaped([first, second, user], CATALOG)
    assert ("a", "b") in before(made)


TOOLS = ("read_file", "write_file", "wait", "list_dir")


@st.composite
def plans(draw: st.DrawFn) -> list[Step]:
    steps: list[Step] = []
    for at in range(draw(st.integers(1, 8))):
        earlier = [one.id for one in steps]
        needs = draw(st.lists(st.sampled_from(earlier), unique=True)) if earlier else []
        uses = draw(st.sampled_from([None, *earlier]))
        value = "x" if uses is None else f"${uses}"
        steps.append(Step(id=f"s{at}", tool=draw(st.sampled_from(TOOLS)), depends_on=tuple(needs), args={"v": value}))
    return draw(st.permutations(steps))


@given(plans())
def test_only_the_order_of_looks_may_change(steps: list[Step]) -> None:
    made, _ = shaped(steps, CATALOG)
    assert not find_cycles({one.id: dependencies(one) for one in made})
    tools = {one.id: one.tool for one in steps}
    assert before(made) <= before(steps), "nothing waits for more than before"
    for first, second in before(steps) - before(made):
        assert tools[first] == tools[second]
        assert tools[first] in ("read_file", "list_dir", "wait")


def test_what_nobody_looks_at_is_said() -> None:
    steps = [
        step("w", "write_file", path="a", content="x"),
        step("look", "read_file", "w", path="a"),
        step("d", "delete_file", path="b"),
    ]
    assert remarks_on(steps, CATALOG) == [
        "May destroy something, and asks first where it would: w, d.",
        "No later step looks at what became of: d.",
    ]
