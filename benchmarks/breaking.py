"""Ways to break what writes files: at any of its system calls, by a kill or by a full disk; and files themselves."""

import builtins
import errno
import os
import random
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from shapo.words import BadInput

REAL_OPEN = builtins.open
NEEDS_SPACE = ("write", "flush", "fsync", "mkdir", "create")


class Count:
    """Counts the system calls that change something, and lets them be."""

    def __init__(self):
        self.calls = 0

    def before(
        self, call: str, half: Callable[[], Any] = lambda: None, name: object = None
    ) -> None:
        """Before a call; `half` does some of it."""
        self.calls += 1

    def __enter__(self) -> "Count":
        self._real = {
            name: getattr(os, name) for name in ("fsync", "replace", "rename", "unlink", "mkdir")
        }
        for name, real in self._real.items():
            setattr(os, name, self._counted(name, real))
        builtins.open = self._open
        return self

    def __exit__(self, *_: object) -> None:
        builtins.open = REAL_OPEN
        for name, real in self._real.items():
            setattr(os, name, real)

    def _counted(self, call: str, real: Callable) -> Callable:
        def counted(*arguments, **settings):
            self.before(call, name=arguments[0] if call == "mkdir" else None)
            return real(*arguments, **settings)

        return counted

    def _open(self, path, mode="r", *arguments, **settings):
        if mode[0] in "wxa":
            self.before("create", name=path)
        file = REAL_OPEN(path, mode, *arguments, **settings)
        return Breakable(file, self) if set(mode) & set("wxa+") else file


class Kill(Count):
    """As SIGKILL at one of the calls: what is in memory is lost, what is half written stays."""

    def __init__(self, at: int):
        super().__init__()
        self._at = at

    def before(self, call, half=lambda: None, name=None):
        if self.calls == self._at:
            half()
            os._exit(9)
        super().before(call)


class Fill(Count):
    """No space from one of the calls on."""

    def __init__(self, at: int):
        super().__init__()
        self._at = at

    def before(self, call, half=lambda: None, name=None):
        super().before(call)
        if self.calls > self._at and call in NEEDS_SPACE:
            half()
            where = () if name is None else (str(name),)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), *where)


class Breakable:
    """A file that can fail in the middle of a write."""

    def __init__(self, file: Any, fault: Count):
        self._file = file
        self._fault = fault

    def write(self, content: bytes) -> int:
        self._fault.before("write", lambda: self._half(content))
        return self._file.write(content)

    def flush(self) -> None:
        self._fault.before("flush")
        self._file.flush()

    def truncate(self, *size: int) -> int:
        self._fault.before("truncate")
        return self._file.truncate(*size)

    def _half(self, content: bytes) -> None:
        self._file.write(content[: len(content) // 2])
        self._file.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def __enter__(self) -> "Breakable":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


def in_child(work: Callable[[], Any]) -> str:
    """How work ends in a process of its own: done, killed, or what was raised in a line."""
    return _forked([work])[0]


def at_once(work: Callable[[], Any]) -> list[str]:
    """How the same work ends in two processes that begin at the same instant."""
    return _forked([work, work])


def _forked(works: list[Callable[[], Any]]) -> list[str]:
    wait, go = os.pipe()
    answers = []
    for work in works:
        answer, tell = os.pipe()
        if os.fork() == 0:
            os.close(go)
            os.read(wait, 1)
            os.write(tell, _outcome(work).encode()[:60_000])
            os._exit(0)
        os.close(tell)
        answers.append(answer)
    os.close(wait)
    os.close(go)
    ends = []
    for answer in answers:
        with os.fdopen(answer) as told:
            ends.append(told.read() or "killed")
    for _ in works:
        os.wait()
    return ends


def _outcome(work: Callable[[], Any]) -> str:
    try:
        work()
        return "done"
    except BadInput as error:
        return f"refused: {error}"
    except OSError as error:
        return f"{error.strerror}: {error.filename}"
    except BaseException:
        return traceback.format_exc()


def damage(rng: random.Random, path: Path) -> str:
    """Change a file for the worse, and say how."""
    content = bytearray(path.read_bytes())
    kind = rng.choice(["flipped", "zeroed", "cut", "emptied", "removed"]) if content else "removed"
    place = rng.randrange(len(content)) if content else 0
    match kind:
        case "flipped":
            content[place] ^= 1 << rng.randrange(8)
        case "zeroed":
            content[place : place + 100] = bytes(len(content[place : place + 100]))
        case "cut":
            del content[place:]
        case "emptied":
            content.clear()
    path.unlink()
    if kind != "removed":
        path.write_bytes(content)
    return kind
