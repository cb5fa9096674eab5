"""Bodies in homes: virtual time, many live at once, and decisions through a model's protocol.

    python benchmarks/agent.py [--smallest] [--agents 1000] [--seconds 10]

Virtual hours of one body; live bodies at 20 ticks a second with their events written, beside a bare loop that only
moves as many points along their ways; commands a second through the OpenAI protocol with a picture each, beside asking
the same fake server without a session.
"""

import asyncio
import itertools
import math
import tempfile
import time
from pathlib import Path
from time import process_time

from _options import Options
from _parts import can_run

from beforehand.app.documents import read_file
from beforehand.app.runtime import open_runtime
from beforehand.app.scenes import save_scene
from beforehand.app.settings import load_settings
from beforehand.crafts.agent.core.home_body import home_body
from beforehand.crafts.agent.core.scene import read_home
from beforehand.crafts.agent.core.session import Session, commanded
from beforehand.crafts.agent.session_log import Asked
from beforehand.crafts.agent.sessions import Sessions

SCENE = Path(__file__).parents[1] / "scenes" / "apartment.yaml"
ROUND = ("walking to bed1", "walking to sofa1", "walking to table2", "walking to counter1")


def on_its_way(ticks: int) -> tuple[float, int]:
    """CPU seconds for a body that is always on its way somewhere, and the commands given."""
    session = Session(home_body(read_home(read_file(str(SCENE)))))
    began, commands = process_time(), 0
    for place in itertools.cycle(ROUND):
        for command in (f'start("{place}")', "skip(30, wake_on=done)", f'stop("{place}")'):
            session, _ = commanded(session, command)
            commands += 1
        if session.body.tick >= ticks:
            return process_time() - began, commands
    raise AssertionError("the round never ends")


def every_tick(ticks: int) -> float:
    """CPU seconds for as long, looked at on every single tick."""
    session = Session(home_body(read_home(read_file(str(SCENE)))))
    session, _ = commanded(session, 'start("walking to bed1")')
    began, body = process_time(), session.body
    for tick in range(1, ticks + 1):
        body, _ = body.passed(tick)
    return process_time() - began


async def bare_loop(count: int, seconds: float) -> float:
    """The share of a core that only moving points along a way takes, 20 times a second."""
    points = [(0.0, 0.0), (3.0, 4.0), (9.0, 4.0), (2.0, 1.0)]
    lengths = [math.dist(a, b) for a, b in itertools.pairwise(points)]
    began, used = time.perf_counter(), process_time()
    for tick in range(int(seconds * 20)):
        for agent in range(count):
            left = (tick + agent) * 0.06 % sum(lengths)
            for number, length in enumerate(lengths):
                if left <= length:
                    (x, y), (x2, y2) = points[number], points[number + 1]
                    _ = (x + (x2 - x) * left / length, y + (y2 - y) * left / length)
                    break
                left -= length
        await asyncio.sleep(max(0.0, began + (tick + 1) / 20 - time.perf_counter()))
    return (process_time() - used) / (time.perf_counter() - began)


async def live(count: int, seconds: float) -> tuple[float, int]:
    """The share of a core that live bodies take while all of them walk, and the events written meanwhile."""
    document = read_file(str(SCENE))
    with tempfile.TemporaryDirectory() as folder:
        settings = load_settings({"home": folder, "workspace": folder}, {}, Path(folder) / "none")
        async with open_runtime(settings, with_servers=False) as runtime:
            sessions = runtime.service(Sessions)
            for number in range(count):
                name = f"home{number}"
                await save_scene(runtime, None, {**document, "name": name}, activate=True)
                session = await sessions.start(Asked(name, clock="realtime"))
                await sessions.say(session.session_id, f'start("{ROUND[number % 4]}")')
            first, began, used = await runtime.store.last_seq(), time.perf_counter(), process_time()
            drivers = list(sessions.live.values())
            said, turns = 0, int(seconds * 20)
            for turn in range(turns):  # bodies arrive, are stopped and sent on, spread over the time
                for driver in drivers[turn % 100 :: 100] if turn % 5 == 0 else ():
                    for action in driver.state.body.actions:
                        await driver.say(f'stop("{action.text}")')
                    await driver.say(f'start("{ROUND[(turn + said) % 4]}")')
                    said += 1
                await asyncio.sleep(max(0.0, began + (turn + 1) / 20 - time.perf_counter()))
            share = (process_time() - used) / (time.perf_counter() - began)
            return share, await runtime.store.last_seq() - first


async def by_model(commands: int) -> tuple[float, float]:
    """Commands a second through a session, and answers a second of the same server asked plainly."""
    from beforehand.app.models import open_model
    from beforehand.ports.model import Ask, Message
    from beforehand.testing.model_replies import says
    from beforehand.testing.model_servers import FakeOpenAI

    with tempfile.TemporaryDirectory() as folder:
        async with FakeOpenAI(says("skip(1)")) as server:
            flags = {"home": folder, "workspace": folder, "model": "openai:any", "model_url": server.url}
            settings = load_settings({**flags, "model_key": "sk-of-nobody"}, {}, Path(folder) / "none")
            async with open_runtime(settings, with_servers=False) as runtime:
                await save_scene(runtime, None, read_file(str(SCENE)), activate=True)
                sessions = runtime.service(Sessions)
                model = open_model(settings)
                await model.answer(Ask((Message("user", "warm up"),)))
                picture = (await sessions.body_of("apartment")).picture()
                began = time.perf_counter()
                for _ in range(commands):
                    await model.answer(Ask((Message("user", "and now?", (picture,)),)))
                plain = commands / (time.perf_counter() - began)
                await model.close()
                began = time.perf_counter()
                asked = Asked("apartment", "dance", model="openai:any", steered_by="model", max_steps=commands)
                session = await sessions.start(asked)
                await sessions.until_over(session.session_id)
                return commands / (time.perf_counter() - began), plain


def row(what: str, value: str, beside: str = "") -> None:
    print(f"{what:<58} {value:>16}  {beside}")


def main() -> None:
    options = Options(__doc__)
    options.add_size("--hours", 1.0, 0.02, "virtual hours of one body")
    options.add_size("--times", 3, 1, "how often they pass")
    options.add_size("--agents", 1000, 5)
    options.add_size("--seconds", 10.0, 0.3, "how long they are live")
    options.add_size("--commands", 200, 3, "by a model")
    given = options.read()
    ticks = round(given.hours * 3600 * 20)
    spent, commands = min((on_its_way(ticks) for _ in range(given.times)), key=lambda found: found[0])
    aim = f"{commands} commands; aim: under 1 s for one hour"
    row(f"virtual hours of one body, always on its way: {given.hours:g}", f"{spent:.2f} s CPU", aim)
    spent = min(every_tick(ticks) for _ in range(given.times))
    row("the same, looked at on every tick", f"{spent:.2f} s CPU", f"{ticks:,} ticks")
    bare = asyncio.run(bare_loop(given.agents, given.seconds))
    share, events = asyncio.run(live(given.agents, given.seconds))
    row(f"{given.agents} live bodies at 20 ticks a second", f"{share:.1%} of a core", f"{events} events written")
    row(
        "a bare loop moving as many points",
        f"{bare:.1%} of a core",
        f"ratio {share / bare:.1f}; aim: under 15 %",
    )
    if can_run("A model", "pydantic_ai"):
        through, plain = asyncio.run(by_model(given.commands))
        row("commands a second by a model, with pictures and log", f"{through:.0f}", f"plain asks: {plain:.0f}")


if __name__ == "__main__":
    main()
