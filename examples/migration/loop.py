"""
A loop written by hand, and the four lines that take its place. The tools and their functions stay as they are.

    pip install 'rodada[anthropic,jsonschema]'
    ANTHROPIC_API_KEY=... python examples/migration/loop.py "How much did my bench press improve?"
"""

import sys
from collections.abc import Callable

import anthropic
from anthropic.types import MessageParam, ToolParam, ToolResultBlockParam

from rodada.providers.anthropic import Anthropic
from rodada.statemachine import ToolLoop
from rodada.tools import adopt

MODEL = "claude-opus-5-5"
LOG = {"bench press": [80.0, 82.5, 85.0], "squat": [100.0, 110.0]}


def list_exercises() -> str:
    return ", ".join(LOG)


def read_log(exercise: str, last: int = 10) -> str:
    return str(LOG[exercise][-last:])


FUNCTIONS: dict[str, Callable[..., str]] = {"list_exercises": list_exercises, "read_log": read_log}

TOOLS: list[ToolParam] = [
    {
        "name": "list_exercises",
        "description": "Every exercise in the training log.",
        "input_schema": {"type": "object", "properties": {}},
    },
    {
        "name": "read_log",
        "description": "Weights in kg lifted in an exercise, oldest first.",
        "input_schema": {
            "type": "object",
            "properties": {"exercise": {"type": "string"}, "last": {"type": "integer", "minimum": 1}},
            "required": ["exercise"],
        },
    },
]


def by_hand(question: str) -> str:
    messages: list[MessageParam] = [{"role": "user", "content": question}]
    with anthropic.Anthropic() as client:
        while True:
            reply = client.messages.create(model=MODEL, max_tokens=1024, messages=messages, tools=TOOLS)
            messages.append({"role": "assistant", "content": reply.content})
            if reply.stop_reason != "tool_use":
                return "".join(block.text for block in reply.content if block.type == "text")
            results: list[ToolResultBlockParam] = []
            for block in reply.content:
                if block.type == "tool_use":
                    content = FUNCTIONS[block.name](**block.input)
                    results.append({"type": "tool_result", "tool_use_id": block.id, "content": content})
            messages.append({"role": "user", "content": results})


def adopted(question: str) -> str:
    tools = adopt(TOOLS, FUNCTIONS)
    with ToolLoop(Anthropic(MODEL), tools=tools) as loop:
        outcome = loop.run_sync(question)
    return outcome.answer


if __name__ == "__main__":
    print(adopted(" ".join(sys.argv[1:]) or "How much did my bench press improve?"))
