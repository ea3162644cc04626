"""
Rules about the order of contents, and about function calls and their responses.
"""

from collections.abc import Callable

from rodada.providers.loopback.google.view import Said, View, bad
from rodada.providers.loopback.json_values import Object, text
from rodada.providers.loopback.script import Failure

_NUMBER = (
    "Please ensure that the number of function response parts is equal to the number of function call parts of the "
    "function call turn."
)
_CALL_PLACE = (
    "Please ensure that function call turn comes immediately after a user turn or after a function response turn."
)
_RESPONSE_PLACE = "Please ensure that function response turn comes immediately after a function call turn."


def calls_follow_the_user(view: View) -> Failure | None:
    """
    A turn with calls stands after a user content (plain, or of responses).
    """
    before = Said(-1, "", ())
    for said in view.contents:
        if said.calls and before.role != "user":
            return bad(_CALL_PLACE)
        before = said
    return None


def begins_with_user(view: View) -> Failure | None:
    """
    The first content is the user's.
    """
    return (
        None
        if view.contents[0].role in ("user", "")
        else bad("Please ensure that the first content has the role user.")
    )


def calls_are_answered(view: View) -> Failure | None:
    """
    After a turn with N calls comes one content of exactly N responses, behind which only media may stand.
    """
    for said, after in _with_next(view):
        behind = after.parts[len(said.calls) :]
        ordered = all("functionResponse" in part for part in after.parts[: len(said.calls)])
        media = all("inlineData" in part or "fileData" in part for part in behind)
        if said.calls and not (len(said.calls) == len(after.responses) and ordered and media):
            return bad(_NUMBER)
    return None


def responses_are_asked_for(view: View) -> Failure | None:
    """
    Responses stand straight after the turn that asked.
    """
    asked = False
    for said in view.contents:
        if said.responses and not asked:
            return bad(_RESPONSE_PLACE)
        asked = bool(said.calls)
    return None


def responses_match(view: View) -> Failure | None:
    """
    A response has the id and the name of its call; without ids names match by position.
    """
    for said, after in _with_next(view):
        if said.calls and not _ids_match(said.calls, after.responses):
            return bad("functionResponse.id does not match functionCall.id of the function call turn.")
        if said.calls and _named(said.calls) != _named(after.responses):
            return bad("functionResponse.name does not match functionCall.name of the function call turn.")
    return None


def call_ids_are_unique(view: View) -> Failure | None:
    """
    No id on two calls.
    """
    ids = [text(call["id"]) for said in view.contents for call in said.calls if "id" in call]
    return None if len(ids) == len(set(ids)) else bad("Duplicate functionCall.id found in contents.")


def ends_with_user(view: View) -> Failure | None:
    """
    There is no prefill.
    """
    last = view.contents[-1].role
    return bad("Requests ending with a model turn are not supported.") if last == "model" else None


def _with_next(view: View) -> list[tuple[Said, Said]]:
    nobody = Said(len(view.contents), "", ())
    return list(zip(view.contents, (*view.contents[1:], nobody), strict=True))


def _ids_match(calls: list[Object], responses: list[Object]) -> bool:
    return sorted(map(_id, calls)) == sorted(map(_id, responses))


def _named(parts: list[Object]) -> list[tuple[str, str]]:
    """
    Ids and names: in any order where ids tell them apart, by position where there are none.
    """
    named = [(_id(part), text(part.get("name"))) for part in parts]
    return sorted(named) if all(name for name, _ in named) else named


def _id(part: Object) -> str:
    return text(part.get("id"))


RULES: tuple[Callable[[View], Failure | None], ...] = (
    calls_follow_the_user,
    begins_with_user,
    calls_are_answered,
    responses_are_asked_for,
    call_ids_are_unique,
    responses_match,
    ends_with_user,
)
