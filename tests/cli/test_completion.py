"""Completion, as a shell does it."""

import os
import pty
import re
import shlex
import shutil
import subprocess

import pytest
import shtab

from shapo.cli import main as cli
from shapo.cli.commands import completion


@pytest.fixture(scope="module")
def script(tmp_path_factory):
    path = tmp_path_factory.mktemp("completion") / "shapo.bash"
    path.write_text(shtab.complete(completion.everything(), "bash"))
    return path


def complete(script, line: str) -> set[str]:
    """What bash offers for the last word of a line."""
    words = line.split(" ")
    program = f"""
source {shlex.quote(str(script))}
COMP_WORDS=({" ".join(map(shlex.quote, words))}); COMP_CWORD={len(words) - 1}
_shtab_shapo
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
    done = subprocess.run(["bash", "-c", program], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


COMPLETED = [
    ("shapo tr", {"train"}),
    ("shapo train --gradient s", {"sam", "shapo"}),
    ("shapo train --algo crp", {"crpo"}),
    ("shapo compare --env SafetyCarGoal1", {"SafetyCarGoal1-v0"}),
    ("shapo compare --arm gradient=plain --see", {"--seeds"}),
    ("shapo figure gaussian", {"gaussian-gradients"}),
    ("shapo report --ti", {"--title"}),
    ("shapo evaluate --gra", set()),
    ("shapo bench t", {"train"}),
]
FOLDER = ("shapo archive a_fol", {"a_folder/"})


@pytest.mark.parametrize("line, offered", COMPLETED)
def test_bash(script, line, offered):
    assert complete(script, line) == offered


def test_every_command_is_offered(script):
    assert complete(script, "shapo ") == set(cli.COMMANDS)
    assert complete(script, "shapo --v") == {"--version"}


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A folder with the scripts of the other shells, and a folder to complete."""
    home = tmp_path_factory.mktemp("home")
    for shell, name in (("zsh", "_shapo"), ("fish", "shapo.fish")):
        (home / name).write_text(shtab.complete(completion.everything(), shell))
    (home / "a_folder").mkdir()
    return home


def needs(shell: str):
    return pytest.mark.skipif(not shutil.which(shell), reason=f"there is no {shell}")


@pytest.mark.slow
@needs("fish")
@pytest.mark.parametrize("line, offered", [*COMPLETED, FOLDER])
def test_fish(home, line, offered):
    program = f"source shapo.fish; complete -C {shlex.quote(line)}"
    done = subprocess.run(
        ["fish", "--no-config", "-c", program], cwd=home, capture_output=True, text=True, check=True
    )
    assert {line.split("\t")[0] for line in done.stdout.splitlines()} == offered


ZSH = """\
fpath=($PWD $fpath); autoload -U compinit; compinit -D; setopt no_beep
typed() { BUFFER="print -r -- '<'${(q)BUFFER}'>'"; zle accept-line }
zle -N typed; bindkey '^P' typed; print READ''Y
"""


@pytest.fixture(scope="module")
def zsh(home):
    """What zsh makes of a line when the tab key is pressed, and what it shows meanwhile."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        ["zsh", "-f", "-i"], cwd=home, stdin=theirs, stdout=theirs, stderr=theirs,
        env=os.environ | {"TERM": "dumb"}, start_new_session=True,
    )  # fmt: skip
    os.close(theirs)

    def read(until: str) -> str:
        seen = ""
        while not re.search(until, seen):
            seen += os.read(ours, 1 << 16).decode(errors="replace")
        return seen

    def tab(line: str) -> tuple[str, str]:
        os.write(ours, f"{line}\t\x10".encode())
        shown = read("(?m)^<.*>")
        return re.findall("(?m)^<(.*)>", shown)[-1], shown

    os.write(ours, ZSH.encode())
    read("READY")
    yield tab
    process.kill()
    process.wait()
    os.close(ours)


@pytest.mark.slow
@needs("zsh")
@pytest.mark.parametrize("line, offered", [*COMPLETED, FOLDER])
def test_zsh(zsh, line, offered):
    *before, word = line.split(" ")
    completed, shown = zsh(line)
    last = next(iter(offered)) if len(offered) == 1 else word
    assert completed.rstrip() == " ".join([*before, last]), shown
    assert len(offered) < 2 or all(each in shown for each in offered), shown
    assert "error" not in shown


@pytest.mark.slow
@needs("zsh")
def test_zsh_lists_what_there_is(zsh):
    for name in ("trpo-pid", "cpo-as-released", "focops"):
        assert name in zsh("shapo train --algo ")[1]


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_can_read_their_scripts(shell, home):
    script = home / {"zsh": "_shapo", "fish": "shapo.fish"}[shell]
    text = script.read_text()
    assert "SafetyPointGoal1-v0" in text and "trpo-pid" in text
    if shutil.which(shell):
        subprocess.run([shell, "-n", str(script)], check=True)
