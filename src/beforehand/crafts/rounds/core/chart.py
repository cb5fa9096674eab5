"""Charts: bars or a line as SVG that takes the colour of the text around it, and as block characters for a terminal."""

from dataclasses import dataclass
from html import escape
from typing import Any

WIDTH, LEFT, RIGHT, BAR, GAP, TOP = 640, 150, 70, 18, 6, 34
HIGH = 220
MOST_BARS = 40
_EIGHTHS = " ▏▎▍▌▋▊▉"
_LEVELS = "▁▂▃▄▅▆▇█"


@dataclass(frozen=True, slots=True)
class Chart:
    title: str
    labels: tuple[str, ...]
    values: tuple[float, ...]
    unit: str = ""
    is_line: bool = False
    """Along time, where there are too many values for bars."""

    def wire(self) -> dict[str, Any]:
        return {
            "title": self.title,
            "labels": list(self.labels),
            "values": list(self.values),
            "unit": self.unit,
            "kind": "line" if self.is_line else "bars",
        }


def svg(chart: Chart) -> str:
    """The chart as a picture: no colours of its own, so that it can be read on light and on dark ground."""
    inside, height = _line(chart) if chart.is_line else _bars(chart)
    title = _text(0, 16, f"{chart.title}{f' ({chart.unit})' if chart.unit else ''}", "start", weight="600")
    told = "; ".join(f"{label}: {_shown(value)}" for label, value in _pairs(chart)[:MOST_BARS])
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
        f'font-family="system-ui, sans-serif" font-size="12" fill="currentColor">'
        f"<title>{escape(chart.title)}</title><desc>{escape(told)}</desc>{title}{inside}</svg>"
    )


def _pairs(chart: Chart) -> list[tuple[str, float]]:
    return list(zip(chart.labels, chart.values, strict=True))


def _bars(chart: Chart) -> tuple[str, int]:
    shown = _pairs(chart)[:MOST_BARS]
    top = max((value for _, value in shown), default=0) or 1
    parts = []
    for place, (label, value) in enumerate(shown):
        y = TOP + place * (BAR + GAP)
        width = max(value, 0) / top * (WIDTH - LEFT - RIGHT)
        parts.append(_text(LEFT - 8, y + 13, label, "end"))
        parts.append(f'<rect x="{LEFT}" y="{y}" width="{width:.1f}" height="{BAR}" fill-opacity="0.55"/>')
        parts.append(_text(LEFT + width + 6, y + 13, _shown(value), "start"))
    left = len(chart.values) - len(shown)
    if left:
        parts.append(_text(LEFT, TOP + len(shown) * (BAR + GAP) + 13, f"and {left} more", "start"))
    return "".join(parts), TOP + (len(shown) + bool(left)) * (BAR + GAP) + 4


def _line(chart: Chart) -> tuple[str, int]:
    top = max(chart.values, default=0) or 1
    left, wide, high = 50, WIDTH - 50 - 20, HIGH - TOP - 30
    step = wide / max(len(chart.values) - 1, 1)
    points = [
        (left + place * step, TOP + high - max(value, 0) / top * high) for place, value in enumerate(chart.values)
    ]
    drawn = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    floor = TOP + high
    every = max(len(points) // 6, 1)
    marks = "".join(
        _text(points[place][0], floor + 16, chart.labels[place], "middle") for place in range(0, len(points), every)
    )
    axis = (
        f'<line x1="{left}" y1="{floor}" x2="{left + wide}" y2="{floor}" stroke="currentColor" stroke-opacity="0.5"/>'
        f"{_text(left - 6, TOP + 4, _shown(top), 'end')}{_text(left - 6, floor + 4, '0', 'end')}"
    )
    line = f'<polyline points="{drawn}" fill="none" stroke="currentColor" stroke-width="1.5"/>'
    return f"{axis}{line}{marks}", HIGH


def _text(x: float, y: float, words: str, anchor: str, weight: str = "400") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-weight="{weight}">{escape(words[:60])}</text>'


def _shown(value: float) -> str:
    return f"{value:,.2f}".rstrip("0").rstrip(".")


def blocks(chart: Chart, width: int = 80) -> str:
    """The chart in block characters, no wider than the terminal."""
    return _sparks(chart, width) if chart.is_line else _block_bars(chart, width)


def _block_bars(chart: Chart, width: int) -> str:
    shown = _pairs(chart)[:MOST_BARS]
    top = max((value for _, value in shown), default=0) or 1
    names = max((min(len(label), 24) for label, _ in shown), default=0)
    numbers = max((len(_shown(value)) for _, value in shown), default=0)
    room = max(width - names - numbers - 2, 8)
    lines = [chart.title]
    for label, value in shown:
        eighths = round(max(value, 0) / top * room * 8)
        bar = "█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip()
        lines.append(f"{label[:24]:>{names}} {bar} {_shown(value)}")
    left = len(chart.values) - len(shown)
    return "\n".join([*lines, *([f"and {left} more"] if left else [])])


def _sparks(chart: Chart, width: int) -> str:
    """One column a value; where there are more values than columns, neighbours share one and their highest shows."""
    share = -(-len(chart.values) // max(width, 1))
    highs = [max(chart.values[at : at + share]) for at in range(0, len(chart.values), share)]
    top = max(highs, default=0) or 1
    drawn = "".join(_LEVELS[min(int(max(value, 0) / top * 8), 7)] if value > 0 else " " for value in highs)
    ends = f"{chart.labels[0]} to {chart.labels[-1]}, highest {_shown(top)}{f' {chart.unit}' if chart.unit else ''}"
    return "\n".join([chart.title, drawn, ends])
