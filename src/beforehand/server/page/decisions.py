"""Needs you: each decision with its evidence and the verbs it allows, and nothing else."""

import json
from typing import Any

from beforehand.app.evidence import call_text
from beforehand.server.page.html import Html, Part, el
from beforehand.server.page.icons import badge, tone_of
from beforehand.server.page.parts import card, diff, moment, pairs

SHOWN = 50
QUIET_VERBS = ("cancel", "leave")
SHARP_VERBS = ("deny", "abort", "stop")


def decisions_list(decisions: list[dict[str, Any]], *, may_write: bool) -> list[Html]:
    if not decisions:
        return [_nothing()]
    cards = [decision_card(decision, may_write=may_write) for decision in decisions[:SHOWN]]
    if len(decisions) > SHOWN:
        more = f"{len(decisions) - SHOWN} more wait; these are the oldest."
        cards.append(card("more-decisions", "empty", el("p", {}, more)))
    return cards


def _nothing() -> Html:
    return card(
        "no-decisions",
        "empty",
        el("p", {"class": "lead"}, "Nothing waits for you."),
        el(
            "p",
            {},
            "Hand a plan in and it is shown here before anything moves: ",
            el("code", {}, "beforehand run plan.yaml"),
            " or POST it to ",
            el("code", {}, "/api/v1/plans"),
            ".",
        ),
    )


def decision_card(decision: dict[str, Any], *, may_write: bool) -> Html:
    asker = str(decision.get("askedBy", ""))
    asked = [" by ", asker] if asker and not asker.startswith("run ") else None
    return card(
        f"decision-{decision['id']}",
        f"decision {tone_of(decision['kind'])}",
        el("header", {}, badge(decision["kind"]), el("span", {"class": "when"}, moment(decision["openedAt"]), asked)),
        el("h3", {}, decision["title"]),
        _evidence(decision),
        _about(decision),
        _form(decision, may_write=may_write),
    )


def _about(decision: dict[str, Any]) -> Html:
    about = decision["about"]
    links: list[Part] = []
    if plan := about.get("planId"):
        version = about.get("version")
        where = f"/api/v1/plans/{plan}" + (f"?version={version}" if version else "")
        links.append(el("a", {"href": where}, "plan"))
    if run := about.get("runId"):
        links.append(el("a", {"href": f"/api/v1/runs/{run}"}, "run"))
    said = decision.get("ifUnanswered")
    return el(
        "p", {"class": "fine"}, [f"If nobody answers: {said[:1].lower()}{said[1:]} "] if said else None, _between(links)
    )


def _between(links: list[Part]) -> list[Part]:
    return [part for place, link in enumerate(links) for part in ((" · " if place else ""), link)]


def _evidence(decision: dict[str, Any]) -> list[Part]:
    """What a person needs to see to decide: a sentence, the steps, the change as a diff, and the rest by name."""
    evidence = {name: thing for name, thing in decision.get("evidence", {}).items() if thing not in (None, "", [], {})}
    steps, says, text = (evidence.pop(name, None) for name in ("steps", "says", "diff"))
    shown: list[Part] = [el("p", {}, says) if says else None]
    if isinstance(steps, list):
        shown.append(el("ol", {"class": "steps-told"}, [_call(step) for step in steps]))
    if isinstance(text, str):
        evidence = _beside_diff(evidence)
    shown.append(pairs({name: thing for name, thing in evidence.items() if thing != decision["title"]}))
    if isinstance(text, str):
        shown.append(diff(text))
    if decision["kind"] == "review" and "start" in decision["verbs"]:
        shown.append(_preview_offer(decision))
    return shown


def _beside_diff(evidence: dict[str, Any]) -> dict[str, Any]:
    """What a diff does not show by itself."""
    rest = {name: thing for name, thing in evidence.items() if name not in ("path", "size", "sizeBefore", "tool")}
    args = rest.pop("args", None)
    more = {name: thing for name, thing in args.items() if name not in ("path", "content")} if args else {}
    return {**rest, "args": more} if more else rest


def _call(call: Any) -> Html:
    """A call of a review, as it is: what its author says of it stands beside it."""
    if not isinstance(call, dict):
        return el("li", {}, str(call))
    said = call.get("description")
    marked = el("strong", {"class": "mismatch"}, " The words do not match the call.") if call.get("mismatch") else None
    return el(
        "li",
        {},
        el("code", {}, call_text({**call, "description": None}).partition(". ")[2]),
        [" ", said] if said else None,
        marked,
    )


def _preview_offer(decision: dict[str, Any]) -> Html:
    about = decision["about"]
    return el(
        "div",
        {"class": "preview"},
        el(
            "button",
            {"type": "button", "class": "ghost", "data-preview": about["planId"], "data-version": about["version"]},
            "See what it would do",
        ),
        el("div", {"class": "preview-shown", "aria-live": "polite"}),
    )


def _form(decision: dict[str, Any], *, may_write: bool) -> Html:
    verbs = decision["verbs"]
    return el(
        "form",
        {"class": "answer", "data-decision": decision["id"]},
        _field(decision),
        el("div", {"class": "verbs"}, [_button(decision, verb, place, may_write) for place, verb in enumerate(verbs)]),
        None if may_write else el("p", {"class": "fine"}, "Your token may look; answering needs an operator's."),
        el("p", {"class": "said", "role": "alert"}),
    )


def _button(decision: dict[str, Any], verb: str, place: int, may_write: bool) -> Html:
    kind = "sharp" if verb in SHARP_VERBS else "ghost" if place or verb in QUIET_VERBS else "first"
    effect = decision.get("effects", {}).get(verb, "")
    return el(
        "div",
        {"class": "verb"},
        el(
            "button",
            {"type": "submit", "class": kind, "value": verb, "disabled": not may_write},
            verb.replace("-", " ").capitalize(),
        ),
        el("span", {"class": "effect"}, effect),
    )


def _field(decision: dict[str, Any]) -> Html | None:
    """A place for the value a verb needs: an answer in words, or arguments and steps as JSON."""
    verbs, name = decision["verbs"], f"value-{decision['id']}"
    if "answer" in verbs:
        return _labelled(name, "Your answer", el("input", {"id": name, "name": "text", "autocomplete": "off"}))
    if "insert" in verbs or "retry" in verbs:
        example = {"args": decision.get("evidence", {}).get("args", {})}
        hint = "Other arguments for a retry, or steps to insert, as JSON; empty for neither"
        area = el(
            "textarea",
            {"id": name, "name": "json", "rows": "2", "placeholder": json.dumps(example, ensure_ascii=False)},
        )
        return _labelled(name, hint, area)
    return None


def _labelled(name: str, label: str, field: Html) -> Html:
    return el("div", {"class": "field"}, el("label", {"for": name}, label), field)
