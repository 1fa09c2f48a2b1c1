"""Completion, as a shell does it."""

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


@pytest.mark.parametrize(
    "line, offered",
    [
        ("shapo tr", {"train"}),
        ("shapo train --gradient s", {"sam", "shapo"}),
        ("shapo train --algo crp", {"crpo"}),
        ("shapo compare --env SafetyCarGoal1", {"SafetyCarGoal1-v0"}),
        ("shapo figure gaussian", {"gaussian-gradients"}),
        ("shapo report --ti", {"--title"}),
        ("shapo evaluate --gra", set()),
        ("shapo bench t", {"train"}),
    ],
)
def test_bash(script, line, offered):
    assert complete(script, line) == offered


def test_every_command_is_offered(script):
    assert complete(script, "shapo ") == set(cli.COMMANDS)
    assert complete(script, "shapo --v") == {"--version"}


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_can_read_their_scripts(shell, tmp_path, capsys):
    cli.main(["completion", shell])
    text = capsys.readouterr().out
    assert "SafetyPointGoal1-v0" in text and "trpo-pid" in text
    if shutil.which(shell):
        (tmp_path / "script").write_text(text)
        subprocess.run([shell, "-n", str(tmp_path / "script")], check=True)
