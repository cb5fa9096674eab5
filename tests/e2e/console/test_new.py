"""New: words read as they are typed and corrected as chips, templates, files, drafts; what is refused, and why."""

import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import expect
from tests.e2e.console.browser import PHONE, Pages, no_barriers, open_screen
from tests.e2e.console.serving import Up

from beforehand.testing.model_replies import gives, stalls
from beforehand.testing.model_servers import FakeOpenAI

Start = Callable[..., Awaitable[Up]]
REFUSED = "status of (409|422)"
"""A browser notes on its console that the server refused something, which here is what is looked at."""
WELD = "weld positions 1 and 2, then go home"
GREET = {
    "description": "Writes a greeting, then reads it.",
    "plan": {
        "name": "Greet",
        "steps": [
            {"id": "write", "tool": "write_file", "args": {"path": "$params.path", "content": "$params.words"}},
            {"id": "read", "tool": "read_file", "args": {"path": "$params.path"}, "dependsOn": ["write"]},
        ],
    },
    "parameters": {"path": {"type": "string", "default": "hello.txt"}, "words": {"type": "string"}},
}


@pytest_asyncio.fixture(loop_scope="session")
async def cells(up: Start) -> Up:
    return await up("weld_star", "cross_dock", "apartment")


@pytest_asyncio.fixture(loop_scope="session")
async def new(cells: Up, pages: Pages) -> Any:
    pages.expect(REFUSED)
    page = await pages.new(cells)
    await open_screen(page, "/new")
    return page


def words(page: Any) -> Any:
    return page.get_by_role("textbox", name="What do you want?")


async def planned(page: Any, server: Up) -> Any:
    """The plan whose page was gone to."""
    await page.wait_for_url("**/plans/*")
    return await server.call("GET", f"/plans/{page.url.rpartition('/')[2]}")


async def test_words_are_read_a_chip_is_corrected_and_that_is_planned(new: Any, cells: Up) -> None:
    await words(new).fill(WELD)
    await new.get_by_role("button", name="Tack Weld at Pos_2").click()
    await new.get_by_role("combobox", name="Position").select_option(label="Pos_3")
    await new.get_by_role("button", name="Tack Weld at Pos_3").wait_for()
    assert await cells.call("GET", "/plans") == []
    await new.get_by_role("button", name="Plan", exact=True).click()
    plan = await planned(new, cells)
    goals = list(dict.fromkeys(step["goal"]["says"] for step in plan["steps"]))
    assert goals == ["Tack Weld at Pos_1", "Tack Weld at Pos_3", "Move to Home"]


async def test_a_plan_by_the_keyboard_alone(new: Any, cells: Up) -> None:
    await expect(words(new)).to_be_focused()
    await new.keyboard.type("weld 1")
    await new.get_by_role("button", name="Tack Weld at Pos_1").wait_for()
    await new.keyboard.press("Enter")
    plan = await planned(new, cells)
    assert plan["origin"]["text"] == "weld 1"


async def test_enter_right_after_the_last_letter_plans_the_words_once_they_are_read(new: Any, cells: Up) -> None:
    await new.keyboard.type("weld 2")
    await new.keyboard.press("Enter")
    plan = await planned(new, cells)
    assert plan["origin"]["text"] == "weld 2"
    assert len(await cells.call("GET", "/plans")) == 1
    await open_screen(new, "/new")
    await new.keyboard.type("weld nowhere")
    await new.keyboard.press("Enter")
    await new.locator(".new-read").get_by_text("nowhere").first.wait_for()
    await expect(new.get_by_role("button", name="Plan", exact=True)).to_have_attribute("aria-disabled", "true")
    assert len(await cells.call("GET", "/plans")) == 1


async def test_a_folder_that_is_dropped_is_told_to_be_none(new: Any) -> None:
    await new.evaluate("() => { File.prototype.text = () => Promise.reject(new Error('a folder')); }")
    await dropped(new, "plans", "")
    await new.get_by_text("plans was not taken in.").wait_for()
    await new.get_by_text("It cannot be read. Choose a single file, not a folder.").wait_for()


async def test_steps_are_added_moved_and_taken_away(new: Any, cells: Up) -> None:
    await words(new).fill(WELD)
    await new.get_by_role("button", name="Add a step").click()
    await new.get_by_role("combobox", name="What").select_option(label="Move")
    await new.get_by_role("combobox", name="Position").select_option(label="Pos_4")
    await new.get_by_role("button", name="4 Move to Pos_4").wait_for()
    await new.get_by_role("button", name="Earlier").click()
    await new.get_by_role("button", name="3 Move to Pos_4").wait_for()
    await new.get_by_role("button", name="1 Tack Weld at Pos_1").click()
    await new.get_by_role("button", name="Take it away").click()
    await new.get_by_role("button", name="1 Tack Weld at Pos_2").wait_for()
    await new.get_by_role("button", name="As I said it").click()
    await new.get_by_role("button", name="1 Tack Weld at Pos_1").wait_for()


async def test_a_correction_that_cannot_be_is_refused_where_it_stands(new: Any) -> None:
    await words(new).fill("weld 1")
    await new.get_by_role("button", name="Tack Weld at Pos_1").click()
    await new.get_by_role("combobox", name="Position").select_option(label="–")
    await new.get_by_role("alert").get_by_text("can run at several positions").first.wait_for()
    await expect(new.locator(".new-chip[data-wrong=true]")).to_have_count(1)
    await expect(new.get_by_role("button", name="Plan", exact=True)).to_have_attribute("aria-disabled", "true")


async def test_the_scene_that_understands_is_taken_until_one_is_chosen(new: Any, cells: Up) -> None:
    await words(new).fill("send RB-01 to charge")
    await expect(new.get_by_role("radio", name="cross_dock understands")).to_be_checked()
    await new.get_by_role("radio", name="weld_star does not").check()
    await new.locator(".new-read").get_by_text("not understood").first.wait_for()
    assert "scene=weld_star" in new.url
    await new.get_by_role("button", name="Whichever understands").click()
    await new.get_by_role("button", name="Send RB-01 to charge").wait_for()
    await words(new).fill("bring cup1 to table1")
    await expect(new.get_by_role("radio", name="apartment understands")).to_be_checked()
    await new.get_by_role("button", name="Plan", exact=True).click()
    assert (await planned(new, cells))["scene"] == "apartment"


async def test_a_refused_sentence_says_why_and_what_would_be_understood(new: Any, cells: Up) -> None:
    await words(new).fill("weld 1 and then frobnicate")
    told = new.locator(".new-read .told")
    await told.get_by_text("'frobnicate' was not understood, so nothing was planned.").wait_for()
    await told.get_by_text("such as 'tack weld at position 1, then go home'").wait_for()
    await expect(new.get_by_role("button", name="Plan", exact=True)).to_have_attribute("aria-disabled", "true")
    await words(new).press("Enter")
    await new.get_by_role("button", name="Let the model read it").click()
    await new.get_by_role("alert").get_by_text("No model is configured.").wait_for()
    assert await cells.call("GET", "/plans") == []


async def test_a_name_that_was_perhaps_meant_is_put_in_by_pressing_it(new: Any) -> None:
    await words(new).fill("go to Pos_9")
    await new.get_by_role("button", name="Pos_3", exact=True).click()
    await expect(words(new)).to_have_value("go to Pos_3")
    await new.get_by_role("button", name="Move to Pos_3").wait_for()


async def test_a_template_becomes_a_plan_by_its_form(new: Any, cells: Up) -> None:
    await new.get_by_text("No plan has been kept as a template yet.").wait_for()
    await cells.call("PUT", "/templates/greet", GREET)
    await new.get_by_role("button", name="greet").click()
    await new.get_by_role("button", name="Plan from it").click()
    await new.get_by_role("alert").get_by_text("words").first.wait_for()
    await new.get_by_label("Words").fill("Good morning")
    await new.get_by_role("button", name="Plan from it").click()
    plan = await planned(new, cells)
    assert plan["steps"][0]["args"] == {"path": "hello.txt", "content": "Good morning"}


async def dropped(page: Any, name: str, text: str) -> None:
    """A file let go over the page."""
    given = await page.evaluate_handle(
        """([name, text]) => { const all = new DataTransfer();
        all.items.add(new File([text], name)); return all; }""",
        [name, text],
    )
    await page.dispatch_event("main", "dragover", {"dataTransfer": given})
    await page.dispatch_event("main", "drop", {"dataTransfer": given})


async def test_a_dropped_file_lists_its_problems_and_a_good_one_is_taken_in(new: Any, cells: Up) -> None:
    await dropped(new, "bad.yaml", "name: Bad\nsteps:\n  - {id: a, tool: no_such_tool}\n  - {id: a, tool: wait}\n")
    await new.get_by_text("bad.yaml was not taken in.").wait_for()
    await new.get_by_role("alert").get_by_text("steps[0].tool").wait_for()
    assert await cells.call("GET", "/plans") == []
    await dropped(new, "good.yaml", "---\nname: Good\nsteps:\n  - id: a\n    tool: wait\n    args:\n      seconds: 0\n")
    assert (await planned(new, cells))["name"] == "Good"


async def test_a_chosen_json_file_and_a_list_of_steps_that_needs_its_scene(new: Any, cells: Up) -> None:
    plan = {"name": "Chosen", "steps": [{"id": "a", "tool": "wait", "args": {"seconds": 0}}]}
    chosen = {"name": "plan.json", "mimeType": "application/json", "buffer": json.dumps(plan).encode()}
    await new.locator("input[type=file]").set_input_files(chosen)
    assert (await planned(new, cells))["name"] == "Chosen"
    await open_screen(new, "/new")
    steps = [{"id": 1, "action_type": "move", "position": "Safe_Pos_1", "name": "Move to Safe_Pos_1"}]
    await new.locator("input[type=file]").set_input_files({**chosen, "buffer": json.dumps(steps).encode()})
    await new.get_by_role("alert").wait_for()


async def test_without_a_model_a_draft_says_what_to_set_and_what_would_be_sent(new: Any, cells: Up) -> None:
    (cells.workspace / "notes.txt").write_text("Milk, bread.\n")
    draft = new.get_by_role("region", name="A model drafts it")
    await draft.get_by_role("paragraph").get_by_text("Say what you want in the field above").wait_for()
    await words(new).fill("Make a copy of notes.txt.")
    await draft.get_by_role("button", name="What would be sent?").click()
    await draft.get_by_text("No model is configured.").wait_for()
    await draft.get_by_text("Milk, bread.").wait_for()
    await draft.get_by_role("button", name="Draft a plan").click()
    await draft.get_by_role("alert").get_by_text("BEFOREHAND_MODEL").wait_for()


@pytest.mark.needs("pydantic_ai")
async def test_a_model_drafts_is_stopped_and_drafts_again(up: Start, pages: Pages) -> None:
    step = {"id": "read", "description": "Read it.", "tool": "read_file", "depends_on": [], "requires_approval": False}
    step |= {"args": [{"name": "path", "json_value": '"notes.txt"'}], "when": "", "on_failure": "continue"}
    good = gives({"name": "Look at the notes", "steps": [step], "edge_cases": [], "cannot": ""})
    async with FakeOpenAI(stalls()) as model:
        model_key = "sk-this-is-a-secret-key"
        server = await up(
            "weld_star",
            BEFOREHAND_MODEL="openai:writer",
            BEFOREHAND_MODEL_URL=model.url,
            BEFOREHAND_MODEL_KEY=model_key,
        )
        pages.expect(REFUSED)
        page = await pages.new(server)
        await open_screen(page, "/new?text=Look%20at%20notes.txt")
        draft = page.get_by_role("region", name="A model drafts it")
        await draft.get_by_role("button", name="Draft a plan").click()
        await draft.locator("[data-state=running]").wait_for()
        await draft.get_by_role("button", name="Stop").click()
        await draft.locator("[data-state=cancelled]").wait_for()
        model.script = (good,)
        await draft.get_by_role("button", name="Draft a plan").click()
        await draft.get_by_role("link", name="Review the plan").click()
        assert (await planned(page, server))["origin"]["planner"] == "draft"


async def test_a_viewer_is_told_why_nothing_can_be_planned(up: Start, pages: Pages) -> None:
    server = await up("weld_star", tokens={"vic": "viewer"})
    page = await pages.new(server, who="vic")
    await open_screen(page, "/new")
    await words(page).fill(WELD)
    await page.get_by_text("this needs the role operator").first.wait_for()
    await expect(page.get_by_role("button", name="Plan", exact=True)).to_have_attribute("aria-disabled", "true")


async def test_there_are_no_barriers(cells: Up, pages: Pages) -> None:
    pages.expect(REFUSED)
    await cells.call("PUT", "/templates/greet", GREET)
    page = await pages.new(cells, viewport=PHONE)
    await open_screen(page, "/new?template=greet")
    await no_barriers(page)
    await words(page).fill(WELD)
    await page.get_by_role("button", name="Tack Weld at Pos_2").click()
    await no_barriers(page)
    await words(page).fill("frobnicate")
    await page.locator(".new-read .told").wait_for()
    await page.get_by_role("button", name="What would be sent?").click()
    await page.get_by_text("Nothing was sent.").wait_for()
    await no_barriers(page)
    assert await page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
