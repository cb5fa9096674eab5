"""Charts: the same numbers as a picture and as characters."""

from xml.etree import ElementTree

from beforehand.crafts.rounds.core.chart import MOST_BARS, Chart, blocks, svg

BARS = Chart("tasks per robot", ("RB-01", "RB-02 <b>", "RB-03"), (10, 5, 0))
LINE = Chart(
    "tasks per hour", tuple(f"{hour:02}:00" for hour in range(24)), tuple(float(n % 7) for n in range(24)), "s", True
)


def test_bars_are_as_long_as_their_values() -> None:
    picture = ElementTree.fromstring(svg(BARS))
    widths = [float(bar.attrib["width"]) for bar in picture.iter("{http://www.w3.org/2000/svg}rect")]
    assert widths[0] == 2 * widths[1] > 0 == widths[2]
    assert "RB-02 <b>" in "".join(picture.itertext())


def test_a_picture_has_no_colours_of_its_own() -> None:
    for chart in (BARS, LINE):
        picture = svg(chart)
        assert 'fill="currentColor"' in picture
        assert "#" not in picture
        assert "rgb" not in picture
        assert "style" not in picture


def test_a_line_has_a_point_for_every_value() -> None:
    [line] = ElementTree.fromstring(svg(LINE)).iter("{http://www.w3.org/2000/svg}polyline")
    assert len(line.attrib["points"].split()) == 24


def test_a_terminal_shows_bars_of_blocks_no_wider_than_it_is() -> None:
    title, first, second, third = blocks(BARS, 40).splitlines()
    assert title == "tasks per robot"
    assert first.count("█") == 2 * second.count("█") or abs(first.count("█") - 2 * second.count("█")) == 1
    assert third.endswith("RB-03  0")
    assert max(map(len, (first, second, third))) <= 40


def test_a_long_line_is_drawn_in_the_columns_there_are() -> None:
    drawn = blocks(LINE, 12).splitlines()[1]
    assert len(drawn) == 12
    assert "█" in drawn
    assert blocks(LINE).endswith("highest 6 s")


def test_what_is_too_much_is_told() -> None:
    many = Chart("many", tuple(map(str, range(50))), tuple(range(50)))
    assert f"and {50 - MOST_BARS} more" in svg(many)
    assert f"and {50 - MOST_BARS} more" in blocks(many)


def test_nothing_but_zeros_is_drawn_too() -> None:
    assert "<rect" in svg(Chart("none", ("a", "b"), (0, 0)))
    assert blocks(Chart("none", ("a",) * 20, (0,) * 20, is_line=True)).splitlines()[1].strip() == ""
