"""Verbs that others bring by the entry point `beforehand.agent_verbs`."""

from beforehand.app.entry_points import entry_points
from beforehand.crafts.agent.core.verbs import Verb, Verbs
from beforehand.ports.foreign import loaded, why
from beforehand.ports.log import Log

VERB_GROUP = "beforehand.agent_verbs"
log = Log("beforehand.agent")


def load_verbs() -> Verbs:
    """The built-in verbs and those of installed packages; one that cannot be used is reported and left out."""
    found, more = Verbs(), list[Verb]()
    for entry in entry_points(VERB_GROUP):
        try:
            verb = loaded(entry.load)
            found = Verbs([*more, verb])
            more.append(verb)
        except Exception as error:  # somebody else's package must not keep the craft from opening
            log.error("a verb could not be used", name=entry.name, says=why(error))
    return found
