"""The answers to what is asked about a scene that should be live and is not."""

from beforehand.app.craft import Answering, Owner
from beforehand.app.decisions import close_decision
from beforehand.app.runtime import Runtime
from beforehand.app.scenes import activate_scene, deactivate_scene
from beforehand.loop.asked import asked_here
from beforehand.model.decision import Decision


def owner_of_scenes(runtime: Runtime) -> Owner:
    """Takes the answer: the scene is tried again, or rests.

    Raises what keeps it from either; the decision then stays open.
    """

    async def answer(decision: Decision, given: Answering) -> None:
        name = decision.owner.partition(":")[2]
        if (asked := asked_here()) is not None:
            asked.decide(runtime.now())  # trying takes its time, and what lives then must be written down
        if given.verb == "deactivate":
            await deactivate_scene(runtime, name, (decision, given))
        elif given.carry_on:
            await activate_scene(runtime, name, (decision, given))
        else:  # whoever leads next tries it
            await close_decision(runtime, decision, given)

    return Owner(answer)
