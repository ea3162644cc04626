"""
What is known of names that a source uses: whether what stands behind them depends on its arguments alone.
"""

import builtins
from collections.abc import Mapping

IO, CLOCK, CHANCE, PROCESS, RUN = "I/O", "the clock", "randomness", "the state of the process", "the run around it"
PURE = ""

_PURE_MODULES = """
__future__ abc attr attrs base64 binascii bisect calendar cmath collections colorsys copy dataclasses datetime decimal
difflib enum fnmatch fractions functools graphlib hashlib heapq hmac html ipaddress itertools json math numbers operator
os.path pathlib pydantic re rodada.tools statistics string struct textwrap types typing typing_extensions unicodedata
urllib.parse uuid zlib
"""
_IO_MODULES = """
aiohttp asyncio asyncpg boto3 concurrent ctypes email ftplib glob http httpx imaplib io logging mmap multiprocessing
os paramiko pickle psycopg psycopg2 pymongo redis requests select shelve shutil signal smtplib socket sqlalchemy
sqlite3 ssl subprocess sys tempfile threading urllib urllib3 webbrowser websockets
"""
_OTHERS: Mapping[str, str] = {
    "datetime.date.today": CLOCK,
    "datetime.datetime.now": CLOCK,
    "datetime.datetime.today": CLOCK,
    "datetime.datetime.utcnow": CLOCK,
    "numpy.random": CHANCE,
    "os.path.abspath": IO,
    "os.path.exists": IO,
    "os.path.expanduser": IO,
    "os.path.getmtime": IO,
    "os.path.getsize": IO,
    "os.path.isdir": IO,
    "os.path.isfile": IO,
    "os.path.realpath": IO,
    "os.urandom": CHANCE,
    "pathlib.Path.cwd": IO,
    "pathlib.Path.home": IO,
    "random": CHANCE,
    "rodada.tools.Context": RUN,
    "secrets": CHANCE,
    "time": CLOCK,
    "uuid.getnode": IO,
    "uuid.uuid1": CHANCE,
    "uuid.uuid4": CHANCE,
}
_MODULES: Mapping[str, str] = {
    **dict.fromkeys(_PURE_MODULES.split(), PURE),
    **dict.fromkeys(_IO_MODULES.split(), IO),
    **_OTHERS,
}
_IMPURE_BUILTINS: Mapping[str, str] = {
    **dict.fromkeys(("open", "input", "print", "breakpoint", "__import__"), IO),
    **dict.fromkeys(
        ("id", "hash", "globals", "locals", "vars", "setattr", "delattr", "eval", "exec", "compile"), PROCESS
    ),
}
_IO_METHODS = """
commit connect cursor execute executemany exists fetchall fetchone glob is_dir is_file iterdir mkdir open read
read_bytes read_text readline readlines recv rglob rmdir send sendall stat touch unlink urlopen write write_bytes
write_text writelines
"""
_MUTATING = """
add append appendleft clear discard extend extendleft insert pop popitem popleft remove reverse setdefault sort update
"""
_METHODS: Mapping[str, str] = {
    **dict.fromkeys(("now", "today", "utcnow"), CLOCK),
    **dict.fromkeys(
        _IO_METHODS.split(),
        IO,
    ),
}
MUTATORS = frozenset(_MUTATING.split())


def of_dotted(dotted: str) -> str | None:
    """
    What something imported depends on, as `json.dumps`: `PURE` for its arguments alone; None when it is not known.
    """
    parts = dotted.split(".")
    known = (_MODULES.get(".".join(parts[:length])) for length in range(len(parts), 0, -1))
    return next((each for each in known if each is not None), None)


def of_builtin(name: str) -> str | None:
    """
    The same of a builtin; None when there is none of that name.
    """
    return _IMPURE_BUILTINS.get(name, PURE) if hasattr(builtins, name) else None


def of_method(name: str) -> str:
    """
    What a method of that name usually depends on, whatever its object is.
    """
    return _METHODS.get(name, PURE)
