"""
An image or a file in a message or a result: its bytes, or the address at which they are.
"""

import base64
import binascii
import builtins
import os
import re
import stat
from typing import cast

from attrs import Factory, field, frozen

from rodada.statemachine.errors import InvalidValue, UnusableFile
from rodada.statemachine.jsontext import clean_text
from rodada.statemachine.media_types import type_of_file, type_of_url
from rodada.statemachine.stored_media import digest_of

LONGEST_NAME_TOLD = 80
ANY_IMAGE = "image/*"
LONGEST_URL = 8192
# Without brackets: only an address of numbers would need them.
LINK_URL = re.compile(
    r"(?:https://[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?(?::[0-9]{1,5})?(?:[/?#]|\Z)|gs://[a-z0-9][a-z0-9._-]*/)"
    r"[A-Za-z0-9._~:/?#@!$&'()*+,;=%-]*"
)
LARGEST_FILE = 20_000_000  # more than any wire takes of one, in base64
BASE64 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="
GIVE_TYPE = 'give media_type="..."'
MEDIA_TYPE = re.compile(r"[a-z0-9][a-z0-9!#$&^_.+-]{0,126}/[a-z0-9][a-z0-9!#$&^_.+-]{0,126}")  # RFC 6838


def check_kind(what: str, value: object, kind: type) -> None:
    """
    Refuse a value of another kind.

    Raises:
        InvalidValue: it is none of it.
    """
    if not isinstance(value, kind):
        # Not the value itself: an address in the form of another library may hold a secret.
        raise InvalidValue(what, f"takes a {kind.__name__}, got a {type(value).__name__}")


def _media_type(value: str) -> str:
    check_kind("Media.media_type", value, str)
    return value.strip().lower()


def _media_name(value: str) -> str:
    check_kind("Media.name", value, str)
    return clean_text(value)


@frozen
class Media:
    """
    An image or a file in a message or a result.

    Attributes:
        media_type: type and subtype, in small letters, without parameters: "image/png".
        data: the content in base64 (RFC 4648, with padding, one line): one spelling for each content.
        name: of the file, as told to the model; "" for none. It is never used as a path.
        size: bytes of the content.

    Raises:
        InvalidValue: no media type, no base64, or nothing in it.
    """

    media_type: str = field(converter=_media_type)
    data: str = field(repr=False)
    name: str = field(default="", converter=_media_name)

    def __attrs_post_init__(self) -> None:
        if not MEDIA_TYPE.fullmatch(self.media_type):
            raise InvalidValue(
                "Media.media_type", f"takes a type/subtype such as image/png, got {self.media_type!r:.80}"
            )
        check_kind("Media.data", self.data, str)
        if not self.data or not _is_base64(self.data):
            raise InvalidValue(
                "Media.data",
                "takes base64 of at least one byte; for bytes there is Media.of(...), for a file Media.from_path(...)",
            )

    @classmethod
    def of(cls, data: builtins.bytes, media_type: str | None = None, name: str = "") -> "Media":
        """
        The medium of some bytes; without a media type of the one that they tell, else their name.

        Raises:
            InvalidValue: no media type, none that can be told, no byte, or no bytes at all.
        """
        content = _given_bytes(data)
        found = type_of_file(content, name) if media_type is None else media_type
        if found is None:
            raise InvalidValue("Media.of", f"neither the bytes nor the name tell the type: {GIVE_TYPE}")
        return cls(found, base64.b64encode(content).decode("ascii"), name)

    @classmethod
    def from_path(cls, path: str | os.PathLike[str], media_type: str | None = None) -> "Media":
        """
        The medium in a file, of its name; without a media type of the one that its bytes tell, else its name. The path
        is the host's: never take it from what a model or a tool said.

        Raises:
            UnusableFile: it is not there, is a folder, a pipe or a device, cannot be read, holds nothing, is larger
                than LARGEST_FILE bytes, or is of no known type.
            InvalidValue: no media type.
        """
        told = os.fspath(path)
        data = _content_of(told)
        name = os.path.basename(told)
        found = type_of_file(data, name) if media_type is None else media_type
        if found is None:
            raise UnusableFile(told, "is of a type that neither its bytes nor its name tell", GIVE_TYPE)
        return cls.of(data, found, name)

    @property
    def bytes(self) -> builtins.bytes:
        """
        The content.
        """
        return base64.b64decode(self.data)

    @property
    def digest(self) -> str:
        """
        SHA-256 of the content, in hex: the same for equal bytes, whatever their name and type.
        """
        return digest_of(self.data)

    @property
    def size(self) -> int:
        """
        Bytes of the content.
        """
        return len(self.data) // 4 * 3 - self.data[-2:].count("=")

    @property
    def told(self) -> str:
        """
        What is said of it where only text can stand: "[image/png, 68 bytes]", the name in front where it has one.
        """
        return f"[{_told_name(self.name)}{self.media_type}, {self.size} bytes]"


def is_media_type(told: str) -> bool:
    """
    Whether a link may be of this type: a type and a subtype, or just an image.
    """
    return told == ANY_IMAGE or MEDIA_TYPE.fullmatch(told) is not None


def _link_url(value: str) -> str:
    check_kind("MediaLink.url", value, str)
    if len(value) > LONGEST_URL or not LINK_URL.fullmatch(value):
        # Of an address that may hold a secret no more is shown than how it begins.
        raise InvalidValue(
            "MediaLink.url",
            f"takes https://host/... as RFC 3986 spells it, of at most {LONGEST_URL} characters and without a user's "
            f"name, or gs://bucket/object, got {value[:8]!r}...; for bytes there is Media.of(...)",
        )
    return value


def _address(url: str) -> str:
    return re.split("[?#]", url, maxsplit=1)[0]


@frozen
class MediaLink:
    """
    An image or a file in a message or a result, at an address: whoever serves the model fetches it, this library never
    does. Where nobody would, the model is told of it in words.

    Attributes:
        url: https, or gs for Google's store; sent as it stands. Its query may hold a secret, so no text shows it.
        media_type: as in `Media`; where none is given the one that the ending of the address tells. "image/*" for an
            image of which no more is known.
        name: of the file, as told to the model; "" for none.

    Raises:
        InvalidValue: another address, or no media type.
    """

    url: str = field(converter=_link_url, repr=lambda url: repr(_address(url)))
    media_type: str = field(
        default=Factory(lambda self: type_of_url(self.url) or "", takes_self=True), converter=_media_type
    )
    name: str = field(default="", converter=_media_name)

    def __attrs_post_init__(self) -> None:
        if not is_media_type(self.media_type):
            raise InvalidValue(
                "MediaLink.media_type",
                f"takes a type/subtype such as image/png, or {ANY_IMAGE}, got {self.media_type!r:.80}; the ending of "
                "an address tells it only sometimes",
            )

    @property
    def told(self) -> str:
        """
        What is said of it where only text can stand: "[image/png, at https://host/plot.png]".
        """
        return f"[{_told_name(self.name)}{self.media_type}, at {_address(self.url)}]"


def _told_name(name: str) -> str:
    return f"{' '.join(name.split())[:LONGEST_NAME_TOLD]}: " if name.strip() else ""


def _given_bytes(data: object) -> bytes:
    if isinstance(data, bytes | bytearray | memoryview):
        return bytes(cast(bytes, data))
    told = f"takes bytes, got a {type(data).__name__}; for a file there is Media.from_path(...)"
    raise InvalidValue("Media.of", told)


def _content_of(path: str) -> bytes:
    try:
        with open(path, "rb", opener=_opened) as file:
            is_file = stat.S_ISREG(os.fstat(file.fileno()).st_mode)
            data = file.read(LARGEST_FILE + 1) if is_file else None
    except OSError as error:
        raise UnusableFile(path, f"cannot be read ({error.strerror})") from error
    except ValueError as error:  # no path at all, such as one with a null in it
        raise UnusableFile(path, f"cannot be read ({error})") from error
    if data is None:
        raise UnusableFile(path, "is a pipe or a device, and may never end")
    if not data:
        raise UnusableFile(path, "holds nothing")
    if len(data) > LARGEST_FILE:
        raise UnusableFile(path, f"is larger than {LARGEST_FILE} bytes")
    return data


def _opened(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))  # to open a pipe waits for whoever writes into it


def bytes_in(spelled: str) -> bytes:
    """
    The bytes that some base64 of any spelling stands for: of either alphabet, in lines, without its padding.

    Raises:
        InvalidValue: it is no base64.
    """
    data = "".join(spelled.split()).translate(str.maketrans("-_", "+/")).rstrip("=")
    try:
        return base64.b64decode(data + "=" * (-len(data) % 4), validate=True)
    except ValueError as error:
        raise InvalidValue("base64", str(error)) from None


def _is_base64(data: str) -> bool:
    # Not decoded as a whole: it is asked wherever a medium stands, and they are large.
    if len(data) % 4 or not data.isascii():
        return False
    is_spelled = not data.encode().translate(None, BASE64) and data.find("=", 0, -4) < 0
    return is_spelled and _is_one_spelling(data[-4:])


def _is_one_spelling(last: str) -> bool:
    try:
        return base64.b64encode(base64.b64decode(last, validate=True)) == last.encode()
    except binascii.Error:
        return False
