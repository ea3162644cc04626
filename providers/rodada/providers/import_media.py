"""
Media in stored messages: base64 of any spelling, data URLs, and addresses.
"""

import re

from rodada.statemachine.errors import InvalidValue
from rodada.statemachine.jsontext import JsonValue
from rodada.statemachine.media import ANY_IMAGE, bytes_in
from rodada.statemachine.media_types import PDF, TOLD_BY_BYTES, type_of_url
from rodada.statemachine.messages import Media, MediaLink

DATA_URL = re.compile(r"data:([^;,]+)(?:;[^;,]*)*;base64,(.*)", re.DOTALL)


def media_of(data: JsonValue, media_type: JsonValue, name: JsonValue = None) -> Media | None:
    """
    The medium in some base64 of any spelling; None where it is none.
    """
    if not isinstance(data, str) or not isinstance(media_type, str):
        return None
    try:
        return Media.of(bytes_in(data), media_type.partition(";")[0], name if isinstance(name, str) else "")
    except InvalidValue:
        return None


def media_of_url(url: JsonValue, name: JsonValue = None) -> Media | None:
    """
    The medium that a data URL holds; None for every other address.
    """
    found = DATA_URL.fullmatch(url) if isinstance(url, str) else None
    return media_of(found[2], found[1], name) if found else None


def link_of(url: JsonValue, media_type: JsonValue, name: JsonValue = None) -> MediaLink | None:
    """
    The link to a medium at an address; None where no wire would fetch it.
    """
    if not isinstance(url, str) or not isinstance(media_type, str):
        return None
    try:
        return MediaLink(url, media_type.partition(";")[0], name if isinstance(name, str) else "")
    except InvalidValue:
        return None


def image_link(url: JsonValue) -> MediaLink | None:
    """
    The same of an address of which the wire says that it is an image.
    """
    told = type_of_url(url) if isinstance(url, str) else None
    return link_of(url, told if told in TOLD_BY_BYTES and told != PDF else ANY_IMAGE)
