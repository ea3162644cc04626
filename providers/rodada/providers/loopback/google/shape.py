"""
Rules about the parameters of a request, its contents and their parts.
"""

from collections.abc import Callable, Iterator

from rodada.providers.loopback.google.fields import signature_bytes
from rodada.providers.loopback.google.view import View, bad
from rodada.providers.loopback.json_values import Json, Object, items, obj, objs, text, unseal
from rodada.providers.loopback.script import Failure

_REQUEST = "* GenerateContentRequest"
_DATA = (
    *("text", "functionCall", "functionResponse", "inlineData", "fileData", "executableCode"),
    *("codeExecutionResult", "toolCall", "toolResponse", "aPartOfTomorrow"),
)


def has_contents(view: View) -> Failure | None:
    """
    There is at least one content.
    """
    return None if view.contents else bad(f"{_REQUEST}.contents: contents is not specified")


def roles_are_known(view: View) -> Failure | None:
    """
    A content is the user's or the model's; a single one may leave the role out.
    """
    for said in view.contents:
        if not said.role and len(view.contents) > 1:
            return bad("Please use a valid role: user, model.")
        if said.role not in ("user", "model", ""):
            return bad(f"Role '{said.role}' is not supported. Please use a valid role: user, model.")
    return None


def contents_have_parts(view: View) -> Failure | None:
    """
    No content without parts.
    """
    empty = next((said.at for said in view.contents if not said.parts), None)
    if empty is None:
        return None
    return bad(f"{_REQUEST}.contents[{empty}].parts: contents.parts must not be empty.")


def parts_have_one_datum(view: View) -> Failure | None:
    """
    A part has exactly one data field.
    """
    places = [(f"contents[{said.at}]", said.parts) for said in view.contents]
    places.append(("system_instruction", tuple(objs(obj(view.body.get("systemInstruction")).get("parts")))))
    found = (fault for path, parts in places for fault in _part_faults(path, parts))
    fault = next(found, None)
    return None if fault is None else bad(fault)


def _part_faults(path: str, parts: tuple[Object, ...]) -> Iterator[str]:
    for index, part in enumerate(parts):
        data = [name for name in _DATA if name in part]
        if not data:
            where = f"{_REQUEST}.{path}.parts[{index}].data"
            yield f"{where}: required oneof field 'data' must have one initialized field"
        elif len(data) > 1:
            where = f"{path}.parts[{index}]"
            yield f"Invalid value at '{where}' (oneof), oneof field 'data' is already set. Cannot set '{data[1]}'"


def system_instruction_is_text(view: View) -> Failure | None:
    """
    The system instruction has text parts alone.
    """
    parts = objs(obj(view.body.get("systemInstruction")).get("parts"))
    if "systemInstruction" in view.body and not parts:
        return bad(f"{_REQUEST}.system_instruction.parts: contents.parts must not be empty.")
    return None if all("text" in part for part in parts) else bad("System instruction supports text parts only.")


def calls_and_responses_are_named(view: View) -> Failure | None:
    """
    Function calls and responses have names, in contents of the right role, and a response has its object.
    """
    for said in view.contents:
        for index, part in enumerate(said.parts):
            fault = _named_fault(f"{_REQUEST}.contents[{said.at}].parts[{index}]", said.role, part)
            if fault is not None:
                return bad(fault)
    return None


def _named_fault(path: str, role: str, part: Object) -> str | None:
    for name, snake, owner in (
        ("functionCall", "function_call", "model"),
        ("functionResponse", "function_response", "user"),
    ):
        if name not in part:
            continue
        if role != owner:
            return f"{path}: a {snake} part must be in a content with the role {owner}."
        if not text(obj(part[name]).get("name")):
            return f"{path}.{snake}.name: Name cannot be empty."
        if name == "functionResponse" and "response" not in obj(part[name]):
            return f"{path}.{snake}.response: the response is not specified"
    return None


def responses_have_no_reference(view: View) -> Failure | None:
    """
    A "$ref" inside a response would be read as a reference to an inline part.
    """
    for said in view.contents:
        for response in said.responses:
            reference = next(_references(response.get("response")), None)
            if reference is not None:
                return bad(f"Function response contains a $ref to '{reference}', which matches no part.")
    return None


def _references(value: Json) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield text(value["$ref"])
        for inner in value.values():
            yield from _references(inner)
    for inner in items(value):
        yield from _references(inner)


def output_is_long_enough(view: View) -> Failure | None:
    """
    maxOutputTokens is a positive integer.
    """
    tokens = obj(view.body.get("generationConfig")).get("maxOutputTokens", 1)
    if isinstance(tokens, int) and not isinstance(tokens, bool) and tokens > 0:
        return None
    return bad(f"{_REQUEST}.generation_config.max_output_tokens: max_output_tokens must be positive.")


def continuation_is_ours(view: View) -> Failure | None:
    """
    A continuation token is one that the server gave.
    """
    token = view.body.get("continuationToken")
    if token is None or view.memory.gave(text(token)):
        return None
    sealed = unseal((signature_bytes(token) or b"").decode("latin-1"))
    return None if sealed and sealed[0] == "google-continuation" else bad("Invalid continuation token.")


RULES: tuple[Callable[[View], Failure | None], ...] = (
    has_contents,
    roles_are_known,
    contents_have_parts,
    parts_have_one_datum,
    system_instruction_is_text,
    calls_and_responses_are_named,
    responses_have_no_reference,
    output_is_long_enough,
    continuation_is_ours,
)
