"""The state in the four lines that whoever steers reads: position, actions with stage and seconds, and both hands."""

from collections.abc import Iterable

from beforehand.ports.body import ActionInfo


def state_text(
    place: str,
    at: tuple[float, float],
    actions: Iterable[ActionInfo],
    left: str | None = None,
    right: str | None = None,
) -> str:
    return "\n".join(
        (
            f"Position: {place} ({short(at[0])}, {short(at[1])})",
            f"Actions: [{', '.join(map(_shown, actions))}]",
            f"Left Hand Holding: {left or 'None'}",
            f"Right Hand Holding: {right or 'None'}",
        )
    )


def _shown(action: ActionInfo) -> str:
    parts = [action.stage, f"{action.duration_s:.1f}s"]
    if action.stuck_s:
        parts.append(f"stuck {action.stuck_s:.1f}s")
    if action.stage == "failed":
        parts.append(action.why)
    return f"{action.text} ({', '.join(parts)})"


def short(number: float) -> str:
    """A coordinate with one decimal at most: 0, 3.5, -1."""
    rounded = round(number, 1)
    return f"{rounded if rounded else 0.0:g}" if abs(rounded) < 1e6 else f"{rounded:.0f}"
