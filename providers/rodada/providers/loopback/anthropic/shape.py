"""
Rules about the parameters of a request and the content of its messages.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping

from rodada.providers.loopback.anthropic.blocks import cache_faults, faults, unknown
from rodada.providers.loopback.anthropic.messages import blocks_of
from rodada.providers.loopback.anthropic.models import thinking_types
from rodada.providers.loopback.anthropic.view import View, bad
from rodada.providers.loopback.json_values import Json, Object, items, obj, objs, text
from rodada.providers.loopback.script import Failure

_REQUIRED = ("model", "max_tokens", "messages")
_SAMPLING = ("temperature", "top_p", "top_k")
_SAMPLING_GONE = "2026-10-21"  # the API version that refuses them
_KNOWN = (
    *_REQUIRED,
    *("system", "tools", "tool_choice", "thinking", "output_config", "stop_sequences", "cache_control", "metadata"),
    *("service_tier", "speed", "inference_geo", "container", "diagnostics", "stream"),
)
_INNER: Mapping[str, tuple[str, ...]] = {
    "metadata": ("user_id",),
    "output_config": ("effort", "format"),
    "diagnostics": ("previous_message_id",),
}
_EFFORTS = ("low", "medium", "high", "xhigh", "max")
_MOST_MESSAGES = 100_000
_MOST_MARKERS = 4


def names_its_version(view: View) -> Failure | None:
    """
    The header anthropic-version is there.
    """
    return None if "anthropic-version" in view.received.headers else bad("anthropic-version: header is required")


def has_no_unknown_parameter(view: View) -> Failure | None:
    """
    Nothing but known parameters; sampling parameters are known to older API versions alone.
    """
    old = view.received.headers.get("anthropic-version", "") < _SAMPLING_GONE
    known = _KNOWN + _SAMPLING if old else _KNOWN
    alien = next((key for key in view.body if key not in known), None)
    return None if alien is None else bad(f"{alien}: Extra inputs are not permitted")


def has_no_unknown_option(view: View) -> Failure | None:
    """
    Nothing but known keys inside the parameters that are objects.
    """
    return _first(fault for name, known in _INNER.items() for fault in unknown(name, obj(view.body.get(name)), known))


def has_required_parameters(view: View) -> Failure | None:
    """
    model, max_tokens and messages are there.
    """
    missing = next((key for key in _REQUIRED if key not in view.body), None)
    return None if missing is None else bad(f"{missing}: Field required")


def parameters_have_their_types(view: View) -> Failure | None:
    """
    The types of the required parameters.
    """
    if not text(view.body["model"]):
        return bad("model: Input should be a valid string")
    tokens = view.body["max_tokens"]
    if not isinstance(tokens, int) or isinstance(tokens, bool):
        return bad("max_tokens: Input should be a valid integer")
    if tokens < 0:
        return bad("max_tokens: Input should be greater than or equal to 0")
    if not isinstance(view.body["messages"], list):
        return bad("messages: Input should be a valid list")
    return None


def streaming_is_a_flag(view: View) -> Failure | None:
    """
    `stream` is true or false.
    """
    given = view.body.get("stream", False)
    return None if isinstance(given, bool) else bad("stream: Input should be a valid boolean")


def effort_is_known(view: View) -> Failure | None:
    """
    output_config.effort is one of its words.
    """
    effort = obj(view.body.get("output_config")).get("effort")
    if effort is None or effort in _EFFORTS:
        return None
    return bad(f"output_config.effort: Input should be {', '.join(map(repr, _EFFORTS))}")


def thinking_fits_the_model(view: View) -> Failure | None:
    """
    thinking.type is one that the model accepts; a budget is at least 1024 tokens and less than max_tokens.
    """
    thinking = obj(view.body.get("thinking"))
    kind = thinking.get("type")
    if "thinking" not in view.body:
        return None
    if kind not in thinking_types(view.model):
        return bad(f'"thinking.type.{kind}" is not supported for this model.')
    known = {"adaptive": ("display",), "enabled": ("budget_tokens", "display")}.get(text(kind), ())
    refusal = _first(unknown(f"thinking.{kind}", thinking, ("type", *known)))
    return refusal or (_budget(view) if kind == "enabled" else None)


def _budget(view: View) -> Failure | None:
    budget, most = obj(view.body["thinking"]).get("budget_tokens"), view.body["max_tokens"]
    if not isinstance(budget, int):
        return bad("thinking.enabled.budget_tokens: Field required")
    if budget < 1024:
        return bad("thinking.enabled.budget_tokens: Input should be greater than or equal to 1024")
    if isinstance(most, int) and budget >= most:
        return bad("`max_tokens` must be greater than `thinking.budget_tokens`.")
    return None


def warming_is_plain(view: View) -> Failure | None:
    """
    max_tokens 0 warms the cache and goes with no manual thinking, no forced tool and no output format.
    """
    thinking, choice = obj(view.body.get("thinking")), obj(view.body.get("tool_choice"))
    busy = thinking.get("type") == "enabled" or choice.get("type") in ("any", "tool")
    if view.body["max_tokens"] != 0 or not (busy or obj(view.body.get("output_config")).get("format")):
        return None
    return bad("max_tokens: 0 cannot be combined with thinking budgets, forced tool use or output formats")


def system_is_text(view: View) -> Failure | None:
    """
    The system prompt is a string or text blocks.
    """
    system = view.body.get("system", "")
    if not isinstance(system, str | list):
        return bad("system: Input should be a valid string or a valid list")
    blocks = enumerate(items(system))
    refusal = _first(fault for at, block in blocks for fault in faults(f"system.{at}", "system", block))
    return refusal or _blank_text("system", objs(system))


def messages_are_messages(view: View) -> Failure | None:
    """
    A message is an object of a known role and content, and nothing else.
    """
    messages = items(view.body["messages"])
    if not messages:
        return bad("messages: at least one message is required")
    if len(messages) > _MOST_MESSAGES:
        return bad(f"messages: at most {_MOST_MESSAGES} messages are allowed")
    return _first(fault for at, message in enumerate(messages) for fault in _message_faults(f"messages.{at}", message))


def _message_faults(path: str, message: Json) -> Iterator[str]:
    if not isinstance(message, dict):
        yield f"{path}: Input should be a valid dictionary"
        return
    yield from unknown(path, message, ("role", "content"))
    if message.get("role") not in ("user", "assistant", "system"):
        yield f"{path}.role: Input should be 'user', 'assistant' or 'system'"
    if "content" not in message:
        yield f"{path}.content: Field required"
    elif not isinstance(message["content"], str | list):
        yield f"{path}.content: Input should be a valid string or a valid list"


def blocks_have_their_fields(view: View) -> Failure | None:
    """
    Every block is of a known type, in a message of the right role, with known and required fields of the right types.
    """
    return _first(fault for fault in _block_faults(view))


def _block_faults(view: View) -> Iterator[str]:
    for at, message in enumerate(objs(view.body["messages"])):
        for index, block in enumerate(items(message["content"])):
            yield from faults(f"messages.{at}.content.{index}", text(message["role"]), block)


def content_is_not_empty(view: View) -> Failure | None:
    """
    Only the last message, if it is the assistant's, may be empty.
    """
    for said in view.messages:
        exempt = said.role == "assistant" and said is view.messages[-1]
        if not exempt and (not said.blocks or said.blocks == ({"type": "text", "text": ""},)):
            return bad(
                f"messages.{said.at}: all messages must have non-empty content except for the optional final "
                "assistant message"
            )
    return None


def texts_are_not_blank(view: View) -> Failure | None:
    """
    No empty or whitespace-only text block, neither in messages nor in results.
    """
    for said in view.messages:
        results = [part for block in said.of_type("tool_result") for part in items(block.get("content"))]
        refusal = _blank_text("messages", [*said.blocks, *objs(results)])
        if refusal is not None:
            return refusal
    return None


def _blank_text(path: str, blocks: Iterable[Object]) -> Failure | None:
    texts = [text(block.get("text")) for block in blocks if block.get("type") == "text"]
    if "" in texts:
        return bad(f"{path}: text content blocks must be non-empty")
    if any(not each.strip() for each in texts):
        return bad(f"{path}: text content blocks must contain non-whitespace text")
    return None


def error_results_have_content(view: View) -> Failure | None:
    """
    A result that is an error says something.
    """
    for path, _, block in view.blocks():
        if block.get("is_error") is True and not _says_something(block.get("content")):
            return bad(f"{path}.tool_result: content cannot be empty if `is_error` is true")
    return None


def _says_something(content: Json) -> bool:
    return any(block.get("type") != "text" or text(block.get("text")) for block in blocks_of(content))


def cache_markers_are_few(view: View) -> Failure | None:
    """
    At most four cache_control markers, the automatic one included.
    """
    refusal = _first(cache_faults("cache_control", view.body.get("cache_control")))
    if refusal is not None:
        return refusal
    holders = [view.body, *objs(view.body.get("system")), *objs(view.body.get("tools"))]
    holders += [block for said in view.messages for block in said.blocks]
    holders += [part for holder in list(holders) for part in _inner(holder)]
    found = sum(holder.get("cache_control") is not None for holder in holders)
    if found <= _MOST_MARKERS:
        return None
    return bad(f"A maximum of {_MOST_MARKERS} blocks with cache_control may be provided. Found {found}.")


def _inner(block: Object) -> list[Object]:
    return objs(block.get("content")) if block.get("type") == "tool_result" else []


def _first(found: Iterable[str]) -> Failure | None:
    fault = next(iter(found), None)
    return None if fault is None else bad(fault)


RULES: tuple[Callable[[View], Failure | None], ...] = (
    names_its_version,
    has_required_parameters,
    has_no_unknown_parameter,
    parameters_have_their_types,
    streaming_is_a_flag,
    has_no_unknown_option,
    effort_is_known,
    thinking_fits_the_model,
    warming_is_plain,
    system_is_text,
    messages_are_messages,
    blocks_have_their_fields,
    content_is_not_empty,
    texts_are_not_blank,
    error_results_have_content,
    cache_markers_are_few,
)
