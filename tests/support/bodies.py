"""
Ready bodies of each vendor, around blocks, items, a message or parts that a test writes itself.
"""

from typing import TypeAlias

from rodada.providers.loopback import Body
from rodada.providers.loopback.json_values import Object

Part: TypeAlias = Object


def message_of(*blocks: Part, stop: str = "end_turn", **more: object) -> Body:
    """
    A Message of Anthropic's.
    """
    usage = {"input_tokens": 100, "output_tokens": 20}
    return Body(
        {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "claude-opus-5-5",
            "content": list(blocks),
            "stop_reason": stop,
            "stop_sequence": None,
            "usage": usage,
            **more,
        }
    )


def response_of(*items: Part, reason: str | None = None, **more: object) -> Body:
    """
    A Response of OpenAI's, incomplete where there is a reason.
    """
    return Body(
        {
            "id": "resp_1",
            "object": "response",
            "created_at": 1,
            "status": "completed" if reason is None else "incomplete",
            "error": None,
            "incomplete_details": None if reason is None else {"reason": reason},
            "model": "gpt-5.6",
            "output": list(items),
            "usage": {"input_tokens": 100, "output_tokens": 20},
            **more,
        }
    )


def completion_of(message: Part, reason: str = "stop", **more: object) -> Body:
    """
    A chat.completion.
    """
    choice = {"index": 0, "message": {"role": "assistant", "content": None, **message}, "finish_reason": reason}
    usage = {"prompt_tokens": 100, "completion_tokens": 20}
    return Body(
        {"id": "c1", "object": "chat.completion", "model": "gpt-4.1", "choices": [choice], "usage": usage, **more}
    )


def candidate_of(*parts: Part, reason: str = "STOP", **more: object) -> Body:
    """
    A GenerateContentResponse.
    """
    candidate = {"content": {"role": "model", "parts": list(parts)}, "finishReason": reason, "index": 0}
    usage = {"promptTokenCount": 100, "candidatesTokenCount": 20}
    return Body({"candidates": [candidate], "usageMetadata": usage, "modelVersion": "gemini-3.6-flash", **more})
