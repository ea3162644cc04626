"""
Rules about the format that an answer shall have.
"""

from collections.abc import Callable

from rodada.providers.loopback.json_values import obj
from rodada.providers.loopback.openai_chat.view import View, bad
from rodada.providers.loopback.openai_responses.fields import missing_parameter, unknown_parameter
from rodada.providers.loopback.openai_responses.formats import format_refusals, schema_refusals
from rodada.providers.loopback.script import Failure

_PATH = "response_format"


def format_is_known(view: View) -> Failure | None:
    """
    response_format is of a known type, and a schema in it one that the server takes.
    """
    given = view.body.get(_PATH)
    if given is None:
        return None
    refusal = next(format_refusals(_PATH, given), None)
    held = obj(given)
    if refusal is not None or held["type"] != "json_schema":
        return refusal
    if "json_schema_unknown" in view.deviations:
        return bad("This response_format type is unavailable now", None)
    alien = next((key for key in held if key not in ("type", "json_schema")), None)
    if alien is not None:
        return unknown_parameter(f"{_PATH}.{alien}")
    if "json_schema" not in held:
        return missing_parameter(f"{_PATH}.json_schema")
    return next(schema_refusals(f"{_PATH}.json_schema", obj(held["json_schema"]), _PATH, None), None)


RULES: tuple[Callable[[View], Failure | None], ...] = (format_is_known,)
