"""
Preserved thinking: what a thinking block is bound to.

Part of it are the top-level system prompt, the tools, and every block before it but thinking; cache markers, key
order and all other parameters are not.
"""

import hashlib
from collections.abc import Iterator

from rodada.providers.loopback.anthropic.messages import Said, blocks_of, messages_of, plain
from rodada.providers.loopback.json_values import Json, Object, canonical, objs

THOUGHTS = ("thinking", "redacted_thinking")


def prefix_of_reply(body: Object) -> str:
    """
    The prefix of the first block of the reply to a request.
    """
    nothing = Said(0, "assistant", ({"type": "thinking"},))
    *_, (_, _, last) = prefixes(body, (*messages_of(body), nothing))
    return last


def prefixes(body: Object, messages: tuple[Said, ...]) -> Iterator[tuple[str, Object, str]]:
    """
    Every thought in the messages with its place and its prefix.
    """
    running = hashlib.sha256(canonical([_system(body.get("system")), _tools(body.get("tools"))]).encode())
    for said in messages:
        for index, block in enumerate(said.blocks):
            if block.get("type") in THOUGHTS:
                yield f"messages.{said.at}.content.{index}", block, running.copy().hexdigest()[:32]
            else:
                running.update(canonical([said.role, plain(block)]).encode())


def _system(system: Json) -> Json:
    return [plain(block) for block in blocks_of(system)]


def _tools(tools: Json) -> Json:
    return [plain(tool) for tool in objs(tools)]
