"""States as people see them: each has a colour, a shape and a word, so that none hangs on colour alone."""

from typing import Any

from beforehand.server.page.html import Html, el

_SHAPES = {
    "ring": '<circle cx="8" cy="8" r="5.5" fill="none" stroke="currentColor" stroke-width="2"/>',
    "half": '<circle cx="8" cy="8" r="5.5" fill="none" stroke="currentColor" stroke-width="2"/>'
    '<path d="M8 2.5a5.5 5.5 0 0 1 0 11z" fill="currentColor"/>',
    "play": '<path d="M4 2.5v11l9.5-5.5z" fill="currentColor"/>',
    "tick": '<path d="M2.5 8.5l3.7 3.7 7.3-8" fill="none" stroke="currentColor" stroke-width="2.4"/>',
    "cross": '<path d="M3.5 3.5l9 9m0-9l-9 9" fill="none" stroke="currentColor" stroke-width="2.4"/>',
    "over": '<path d="M2 10c2-6 9-6 11 0m0-4v4.4H8.8" fill="none" stroke="currentColor" stroke-width="2"/>',
    "warning": '<path d="M8 1.8L15 14H1z" fill="none" stroke="currentColor" stroke-width="1.8"/>'
    '<path d="M8 6v4m0 1.4v1.2" stroke="currentColor" stroke-width="1.8"/>',
    "stop": '<rect x="3" y="3" width="10" height="10" rx="1.5" fill="currentColor"/>',
    "bars": '<path d="M5 3v10M11 3v10" stroke="currentColor" stroke-width="3"/>',
    "hand": '<path d="M8 1.5L14.5 8 8 14.5 1.5 8z" fill="currentColor"/>',
    "barred": '<circle cx="8" cy="8" r="5.5" fill="none" stroke="currentColor" stroke-width="2"/>'
    '<path d="M4.2 11.8l7.6-7.6" stroke="currentColor" stroke-width="2"/>',
    "home": '<path d="M8 1.5L14 7v7H2V7z" fill="none" stroke="currentColor" stroke-width="1.8"/>',
    "square": '<path d="M3 3h10v10H3z" fill="none" stroke="currentColor" stroke-width="1.8"/>',
    "diamond": '<path d="M8 1.8L14.2 8 8 14.2 1.8 8z" fill="none" stroke="currentColor" stroke-width="1.8"/>',
    "dot": '<circle cx="8" cy="8" r="3.5" fill="currentColor"/>',
}

STATES: dict[str, tuple[str, str, str]] = {
    "pending": ("quiet", "ring", "Pending"),
    "ready": ("quiet", "half", "Ready"),
    "running": ("busy", "play", "Running"),
    "completed": ("good", "tick", "Completed"),
    "failed": ("bad", "cross", "Failed"),
    "skipped": ("quiet", "over", "Skipped"),
    "blocked": ("bad", "barred", "Blocked"),
    "inDoubt": ("doubt", "warning", "In doubt"),
    "cancelled": ("quiet", "stop", "Cancelled"),
    "denied": ("bad", "stop", "Denied"),
    "partial": ("doubt", "half", "Partly done"),
    "paused": ("wait", "bars", "Paused"),
    "waiting": ("wait", "hand", "Waits for you"),
    "approval": ("wait", "hand", "Approval"),
    "review": ("wait", "hand", "Review"),
    "failure": ("bad", "cross", "Failure"),
    "question": ("wait", "hand", "Question"),
    "hold": ("wait", "bars", "Hold"),
    "bug": ("bad", "warning", "Error"),
}


def shape(name: str) -> Html:
    return Html(f'<svg class="shape" viewBox="0 0 16 16" aria-hidden="true">{_SHAPES[name]}</svg>')


def badge(state: Any) -> Html:
    """A state's shape and word in its colour."""
    tone, form, word = STATES.get(str(state), ("quiet", "dot", str(state)))
    return el("span", {"class": f"mark {tone}"}, shape(form), word)


def tone_of(state: Any) -> str:
    return STATES.get(str(state), ("quiet", "dot", ""))[0]
