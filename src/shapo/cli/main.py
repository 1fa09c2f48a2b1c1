"""The command `shapo`. Bad input ends with one line and exit code 2, a failed run with one line and exit code 1."""

import contextlib
import io
import os
import re
import signal
import sys
import threading
import warnings
from collections.abc import Iterator, Sequence

from shapo.cli.commands import COMMANDS, module_of, parser_of
from shapo.cli.parsing import Parser
from shapo.words import BadInput, nearest, printable

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
EXAMPLES = """\
start here:
  shapo train --env SafetyPointGoal1-v0 --algo trpo-pid --gradient shapo
  shapo compare --env SafetyPointGoal1-v0 --steps 1e6 --seeds 2
  shapo evaluate runs/SafetyPointGoal1-v0-trpo-pid-shapo-seed0

`shapo COMMAND --help` explains a command with examples.
"""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command and leave with its exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in words
    words = [word for word in words if word != "--debug"]
    if arguments is None:
        _open_what_is_closed()
        _keep_to_ourselves()
        signal.signal(signal.SIGINT, _interrupted)
        sys.unraisablehook = _heard_again
    try:
        with _warnings_in_one_line():
            dispatch(words)
    except BrokenPipeError:
        # Whoever reads our output has seen enough (`shapo envs | head`); Python must not try to flush it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (KeyboardInterrupt, Exception) as error:
        if debug:
            raise
        code = _exit_code(error)
        print(f"shapo: {printable(_one_line(error))}", file=sys.stderr)
        raise SystemExit(code) from None


def dispatch(words: list[str]) -> None:
    """Run one command; what goes wrong is raised."""
    name = words[0] if words else "--help"
    if name == "help" and words[1:]:
        return dispatch([words[1], "--help"])
    if name in COMMANDS:
        options = parser_of(name).parse_args(words[1:])
        module_of(name).run(options)
    else:
        _no_command(name)


def _no_command(name: str) -> None:
    parser = Parser(prog="shapo", epilog=EXAMPLES, description="Safe reinforcement learning, fast.")
    parser.add_argument("--version", action="store_true", help="print the version")
    parser.add_argument("--debug", action="store_true", help="show where an error came from")
    listing = parser.add_argument_group("commands")
    for command, about in COMMANDS.items():
        listing.add_argument(command, nargs="?", help=about)
    if name == "--version":
        from shapo.runs.provenance import release

        print(release())
    elif name in ("-h", "--help", "help"):
        parser.usage = "shapo COMMAND [options]"
        parser.print_help()
    else:
        parser.error(f"unknown command {name!r}{nearest(name, COMMANDS)}")


def _open_what_is_closed() -> None:
    """Where a daemon has closed a standard stream Python has None, and the next file that is opened takes its place."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115 - for as long as we run


def _keep_to_ourselves() -> None:
    """Let nothing that happens to lie in the current folder, which may be somebody else's run, decide what we do."""
    # Numba obeys a `.numba_config.yaml` there, and loads compiled code from where that says.
    os.environ.setdefault("NUMBA_CACHE_DIR", "")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a folder's name may be no text


def _interrupted(number: int, frame: object) -> None:
    """Ctrl-C closes everything and says how to go on; who presses it again wants to leave now."""
    signal.signal(signal.SIGINT, _interrupted_again)
    raise KeyboardInterrupt


def _heard_again(ignored: "sys.UnraisableHookArgs") -> None:
    """A Ctrl-C that came where Python cannot raise, within JAX's part of the garbage collector, comes once more."""
    if ignored.exc_type is None or not issubclass(ignored.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(ignored)
        return
    signal.signal(signal.SIGINT, _interrupted)
    threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()


def _interrupted_again(number: int, frame: object) -> None:
    from shapo.runs.keyboard import put_back

    put_back()
    os.write(2, b"\nshapo: stopped at once; runs go on from their last checkpoint\n")
    os._exit(130)


def _exit_code(error: BaseException) -> int:
    if isinstance(error, KeyboardInterrupt):
        return 143 if type(error).__name__ == "Terminated" else 130
    return 2 if isinstance(error, BadInput | OSError) else 1


def _one_line(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}: {error.filename}" if error.filename else error.strerror
    text = " ".join(str(error).split())
    if isinstance(error, KeyboardInterrupt):
        return text or "stopped"
    text = text or type(error).__name__
    ours = type(error).__module__.startswith("shapo")
    known = ours or isinstance(error, BadInput)
    return text if known else f"{type(error).__name__}: {text} (--debug shows where)"


@contextlib.contextmanager
def _warnings_in_one_line() -> Iterator[None]:
    """Each once, without the colours in which Gymnasium writes its own, and only as long as the command runs.

    Not by `warnings.catch_warnings`, which forgets what modules filter, too.
    """
    told = set()

    def show(message, category, filename, lineno, file=None, line=None) -> None:
        text = printable(" ".join(_COLOUR.sub("", str(message)).split()))
        if text not in told:
            told.add(text)
            print(f"shapo: warning: {text}", file=file or sys.stderr)

    usual, warnings.showwarning = warnings.showwarning, show
    try:
        yield
    finally:
        warnings.showwarning = usual
