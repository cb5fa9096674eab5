from beforehand.engine.graph import dependencies, find_cycles, ranks
from beforehand.model.plan import Step


def test_what_a_step_waits_for_is_what_it_says_and_what_it_refers_to() -> None:
    step = Step(
        id="x",
        tool="t",
        depends_on=("a", "b", "a"),
        args={"p": "$c.x", "q": ["${b} ${d}", "$$e"], "r": "$item.z"},
        when="$f > 1 and $index < 3",
        for_each="$g.list",
    )
    assert set(dependencies(step)) == set("abcdfg")
    assert dependencies(step)[:2] == ("a", "b")


def test_a_condition_that_cannot_be_read_implies_nothing() -> None:
    assert dependencies(Step(id="x", tool="t", when="$a ==")) == ()


def test_every_knot_gives_one_cycle_with_its_names() -> None:
    needs = {"a": ["b"], "b": ["c"], "c": ["a"], "d": ["d"], "e": ["a", "gone"], "f": ["g"], "g": ["f", "e"]}
    assert sorted(find_cycles(needs)) == [["a", "b", "c", "a"], ["d", "d"], ["f", "g", "f"]]
    assert find_cycles({"a": ["b"], "b": []}) == []


def test_a_long_chain_and_a_long_circle_need_no_recursion() -> None:
    needs = {str(n): [str(n + 1)] for n in range(20_000)}
    assert find_cycles({**needs, "20000": []}) == []
    (circle,) = find_cycles({**needs, "20000": ["0"]})
    assert len(circle) == 20_002


def test_ranks_put_everything_after_what_it_waits_for_and_keep_the_given_order_else() -> None:
    order = ranks({"d": ["b", "c"], "a": [], "c": ["a"], "b": ["a", "a"], "e": []})
    assert sorted(order, key=order.__getitem__) == ["a", "e", "c", "b", "d"]
