"""`common_helpdesk`: questions about Beforehand itself, answered from the documentation that ships with it."""

import re
from functools import cache

from beforehand.app.runtime import Runtime
from beforehand.crafts.rounds.core.help_desk import Section, best_sections, in_words, sections_of
from beforehand.crafts.rounds.core.inputs import RunWorker
from beforehand.crafts.rounds.core.state import QuestionState
from beforehand.crafts.rounds.core.words import Worker
from beforehand.crafts.rounds.worker_kind import Outputs, WorkerKind
from beforehand.model.errors import NotUnderstoodError

_OF_THE_PAST = (
    r"(?!.*(?:\d|\b(?:number|total|average|mean|median|count|share|rate|percent|percentage|status|open|waiting|"
    r"longest|shortest|slowest|fastest|most|least|fewest|yesterday|today|now|week|month|since|last|first|latest)\b))"
)
"""What is asked with a time, a name or a measure is about what happened, and not about how things work."""
_HELP = re.compile(
    r"^(?:please\s+)?(?:how\s+(?:do|can|should|to)\b|how\s+does\b|what\s+(?:does\b|(?:is|are)\s+an?\b)|"
    rf"(?:what\s+(?:is|are)|where\s+(?:do|is|are))\b{_OF_THE_PAST}|what\s+happens\b|where\s+can\b|"
    r"can\s+(?:i|one|beforehand)\b|explain\b|help\b|which\s+(?:commands?|options?|settings?|exit\s+codes?)\b)",
    re.IGNORECASE,
)


def asks_for_help(question: str) -> bool:
    """Whether a question is about how things work, and not about what has happened."""
    return bool(_HELP.match(question.strip()))


@cache
def _sections() -> tuple[Section, ...]:
    from beforehand.app.doc_pages import doc_page, doc_pages

    return sections_of({name: doc_page(name) for name in doc_pages() if name != "index"})


async def _answer(runtime: Runtime, command: RunWorker, state: QuestionState) -> Outputs:
    found = best_sections(_sections(), command.question)
    if not found:
        raise NotUnderstoodError(
            "The documentation has nothing that fits this question.",
            code="help.nothing",
            hint="Ask with the words of the thing itself, such as: how do I add a token?",
        )
    return {"help_answer": in_words(found), "pages": [f"docs/{each.page}.md" for each in found]}


HELP = (
    WorkerKind(
        Worker(
            name="common_helpdesk",
            description="Answers questions about how Beforehand works, from its documentation.",
            outputs=("help_answer", "pages"),
            answers=True,
        ),
        _answer,
    ),
)
