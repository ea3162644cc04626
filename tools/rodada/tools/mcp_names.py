"""
Names of a server's tools as a model may write them: `server_tool`, legal on every wire, and always the same for the
same tool, whatever else the server offers.
"""

import hashlib
import re

from rodada.statemachine.errors import InvalidValue

LONGEST_NAME = 64
LONGEST_SERVER = 32
_SERVER = re.compile(rf"[a-zA-Z0-9_-]{{1,{LONGEST_SERVER}}}")
_ILLEGAL = re.compile(r"[^a-zA-Z0-9_-]")
_MARK = 8


def check_server(name: object) -> str:
    """
    The name of a server, which stands in front of the names of its tools.

    Raises:
        InvalidValue: it is none.
    """
    if not isinstance(name, str) or not _SERVER.fullmatch(name):
        raise InvalidValue("server", f"takes 1 to {LONGEST_SERVER} letters, digits, _ and -; got {name!r:.80}")
    return name


def tool_name(server: str, tool: str) -> str:
    """
    The name for the model. One that had to be mended or cut ends in a digest of the tool's own name, so that
    `a.b` and `a_b`, or two that begin alike, stay apart (fault F037).
    """
    plain = f"{server}_{tool}"
    legal = _ILLEGAL.sub("_", plain)
    if tool and legal == plain and len(plain) <= LONGEST_NAME:
        return plain
    digest = hashlib.sha256(tool.encode("utf-8", "surrogatepass")).hexdigest()[:_MARK]
    return f"{legal[: LONGEST_NAME - _MARK - 1]}_{digest}"
