"""
Runs as earlier formats hold them, with what was added since.
"""

from rodada.statemachine.jsontext import JsonObject, JsonValue
from rodada.statemachine.wording import ENGLISH, LANGUAGES

TEXTS_OF_2 = ("expired", "nobody_asked", "because_max_cost")


def as_run_2(content: JsonObject) -> JsonObject:
    """
    The content of a run of format 1 in that of format 2: nothing expires or has a price, and the engine says the new
    sentences in the language of the others.
    """
    plan, wording = _object(content.get("plan")), _object(content.get("wording"))
    calls = plan.get("calls")
    planned: list[JsonValue] = (
        [{"within_ms": None, **_object(call)} for call in calls] if isinstance(calls, list) else []
    )
    language = wording.get("language")
    own = LANGUAGES.get(language, ENGLISH) if isinstance(language, str) else ENGLISH
    said: JsonObject = {name: getattr(own, name) for name in TEXTS_OF_2}
    limits: JsonObject = {"max_cost": None, **_object(content.get("limits"))}
    priced: JsonObject = {"prices": [], "cost": 0.0 if content.get("usages") == [] else None}
    return {**priced, **content, "limits": limits, "plan": {**plan, "calls": planned}, "wording": {**said, **wording}}


def _object(value: JsonValue) -> JsonObject:
    return value if isinstance(value, dict) else {}
