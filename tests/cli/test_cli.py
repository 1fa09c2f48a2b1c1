"""The command line as a user meets it."""

import dataclasses
import json
import re
import shlex
import subprocess
import sys
import warnings
from pathlib import Path

import hostile
import numpy as np
import pytest
from gymnasium import Env
from test_resume import same_files
from test_train import TINY as TOY
from toy_env import Toy
from waiting import PATIENCE

from shapo.cli import main as cli
from shapo.cli.commands import algos, module_of
from shapo.cli.parsing import Parser, add_experiment_options, experiment_choices, field_docs
from shapo.envs import IDS
from shapo.experiment import Algo, Experiment
from shapo.experiment.algos import EPOCHS
from shapo.experiment.experiment import SECTIONS
from shapo.runs.folder import Run
from shapo.training import train

HERE = Path(__file__).parents[1]
TINY = [
    "--env", "toy_env:Toy", "--num-envs", "2", "--steps-per-env", "50", "--workers", "1", "--hidden", "8",
    "--critic-epochs", "1", "--algo", "trpo",
]  # fmt: skip
# One process trains the run that the commands are given.
pytestmark = pytest.mark.xdist_group("cli")


def shapo(capsys, *words):
    """Exit code, output and error of a command."""
    code = 0
    try:
        cli.main(list(map(str, words)))
    except SystemExit as exit:
        code = exit.code
    return code, *capsys.readouterr()


def test_help_is_light_and_names_every_command(capsys):
    heavy = ("jax", "numba", "mujoco", "matplotlib")
    program = f"import sys, shapo.cli.main; print([m for m in {heavy} if m in sys.modules])"
    loaded = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert loaded.stdout.strip() == "[]"
    code, text, _ = shapo(capsys, "--help")
    assert code == 0 and "shapo train --env" in text
    for name in cli.COMMANDS:
        assert f"  {name} " in text


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_each_command_teaches(capsys, name):
    code, text, _ = shapo(capsys, name, "--help")
    assert code == 0 and cli.COMMANDS[name] in text and len(text) > 200
    assert "--debug" in text
    assert shapo(capsys, "help", name)[1] == text


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_prose_fits_into_a_narrow_terminal_and_what_is_to_be_typed_stays_whole(
    capsys, monkeypatch, name
):
    monkeypatch.setenv("COLUMNS", "80")
    lines = shapo(capsys, name, "--help")[1].splitlines()
    typed = [line for line in lines if line.startswith("  ") and not line.startswith("      ")]
    assert all(len(line) < 80 or line in typed for line in lines)
    written = module_of(name).EXAMPLES.splitlines()
    assert [line for line in written if line.startswith("  shapo ")] == [
        line for line in lines if line.startswith("  shapo ")
    ]


def test_help_names_what_must_be_given_and_sorts_the_many_options(capsys):
    usage = lambda *words: shapo(capsys, *words, "--help")[1].splitlines()[0]
    assert usage("evaluate") == "usage: shapo evaluate RUN [options]"
    assert usage("report") == "usage: shapo report RUNS ... [options]"
    assert usage("runs") == "usage: shapo runs [RUNS ...] [options]"
    text = " ".join(shapo(capsys, "train", "--help")[1].split())
    places = [
        text.index(f" {title}: --{first.replace('_', '-')} ") for first, title in SECTIONS.items()
    ]
    assert places == sorted(places) and "--gradient shapo sets it to sam" in text
    assert "--algo NAME Algorithm (`shapo algos` explains them)" in text


@pytest.mark.parametrize(
    "words, hint",
    [
        (["trian"], "did you mean train?"),
        (["train", "--alog", "trpo"], "did you mean --algo?"),
        (["train", "--radius", "0.02"], "did you mean --radius-per-dim?"),
        (["train", "--algo", "trpo-pdi"], "did you mean trpo-pid?"),
        (["train", "--steps", "many"], "'many' is no whole number"),
        (["train", "--steps", "1.5"], "'1.5' is no whole number"),
        (["train", "--radius-per-dim", "wide"], "'wide' is no number"),
        (["train", "-x"], "unknown option -x"),
        (["train", "Ant-v4"], "'Ant-v4' is one too many: it is no option, nor the value of one"),
        (["help", "trian"], "did you mean train?"),
        (["train", "--resume", "nowhere"], "holds no run: there is no such folder"),
        (["evaluate", "nowhere"], "holds no run: there is no such folder"),
        (["export", "nowhere"], "holds no run: there is no such folder"),
        (["evaluate"], "required: RUN"),
        (["compare", "--seeds", "0"], "at least one"),
        (["bench", "train", "--iterations", "2"], "the first ones compile"),
        (["bench", "env", "--seconds", "0"], "seconds is 0; it must be above 0"),
        (
            ["bench", "train", "--env", "Pendulum-v1"],
            "or pass cost=function(obs, action, info), on the command line --cost module:function",
        ),
        (
            ["train", "--env", "nowhere:Maze"],
            "cannot import nowhere (No module named 'nowhere'); it is looked for in /",
        ),
        (["train", "--num-envs", "0"], "num_envs is 0"),
        (["train", "--patience", "-1"], "patience is -1 seconds; it must be above 0"),
        (["play", "nowhere", "--out", "a.txt"], "a.txt: a film's name ends in .mp4 or .gif"),
        (["report", "runs", "-o", "p/config.json"], "p/config.json: a page's name ends in .html"),
        (["export", "p", "--out", "q/progress.csv"], "an exported policy's name ends in .onnx"),
    ],
)
def test_bad_input_is_one_line_and_code_2(capsys, words, hint):
    code, out, error = shapo(capsys, *words)
    assert code == 2 and not out
    assert hint in error and error.count("\n") == 1


def test_a_guess_is_made_only_where_it_is_near(capsys):
    for words in (
        ["train", "--foo", "3"],
        ["train", "--env", "Foo-v0"],
        ["train", "--env", "Nope-v0"],
        ["train", "--algo", "dqn"],
        ["xyz"],
    ):
        assert "did you mean" not in shapo(capsys, *words)[2]
    for env, meant in (("PointGol1-v0", "SafetyPointGoal1-v0"), ("pendulum", "Pendulum-v1")):
        assert f"did you mean {meant}?" in shapo(capsys, "train", "--env", env)[2]


def test_sauté_without_a_budget_names_the_option(capsys, tmp_path, monkeypatch):
    """The published limit of a task where nothing may fall is 0, which Sauté divides by."""
    monkeypatch.chdir(tmp_path)
    code, _, error = shapo(capsys, "train", "--env", "Ant-v4", "--algo", "saute", "--workers", "1")
    assert (
        code == 2 and "cost_limit, must be positive, got 0" in error and "--cost-limit 0.5" in error
    )


@pytest.mark.parametrize(
    "words, said",
    [
        (["--pessimism", "1e-5"], "--pessimism does nothing here: it needs gradient shapo"),
        (["--algo", "trpo", "--ppo-rate", "1"], "--ppo-rate does nothing here: it needs algo ppo"),
        (["--gradient", "shapo", "--alpha", "0.1"], "--alpha does nothing here: it needs schedule"),
        (["--gradient", "shapo", "--pessimism", "1e-5"], ""),
    ],
)
def test_a_choice_that_does_nothing_is_said_to(capsys, tmp_path, monkeypatch, words, said):
    """A training that does not get far: the environment has no such id."""
    monkeypatch.chdir(tmp_path)
    _, _, error = shapo(capsys, "train", "--env", "zzz", *words)
    *warnings, last = error.splitlines()
    assert "unknown environment" in last and len(warnings) == bool(said)
    assert all(line.startswith("shapo: warning: ") and said in line for line in warnings)


@pytest.mark.parametrize("words", [["algos"], ["trian"], ["--help"]])
def test_warnings_look_as_before_when_the_command_is_done(capsys, words):
    before = warnings.showwarning
    shapo(capsys, *words)
    assert warnings.showwarning is before


def test_choices_of_learning_do_nothing_to_an_environment_alone(capsys, monkeypatch):
    monkeypatch.setattr("shapo.bench.env.measure", lambda *_: {})
    words = ["--env", "Ant-v4", "--num-envs", "2", "--seed", "1", "--algo", "cpo"]
    code, _, error = shapo(capsys, "bench", "env", *words)
    assert code == 0 and error == "shapo: warning: --algo does nothing here: nothing is learned\n"


def test_a_choice_that_does_nothing_is_said_to_once(capsys, tmp_path, monkeypatch):
    """The command has said it, so the training does not."""

    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.chdir(HERE)
    monkeypatch.setattr("shapo.training.Rollout", stop)
    words = ["train", *TINY, "--steps", "100", "--pessimism", "1e-5", "--out", tmp_path / "run"]
    code, _, error = shapo(capsys, *words)
    assert code == 130 and error.count("pessimism does nothing here") == 1


def test_a_warning_is_shown_once_and_without_the_colours_of_gymnasium(capsys, monkeypatch):
    def heard(options):
        for place in (1, 2):
            text = f"{'a' * place}\n b \x1b]0;owned\x07"
            for line in (3, 4):
                message = f"\x1b[33mWARN: {text}\x1b[0m"
                warnings.warn_explicit(message, UserWarning, "gymnasium/logger.py", line)

    monkeypatch.setattr(algos, "run", heard)
    error = shapo(capsys, "algos")[2]
    assert error.splitlines() == [
        r"shapo: warning: WARN: a b \x1b]0;owned\x07",
        r"shapo: warning: WARN: aa b \x1b]0;owned\x07",
    ]


def test_a_fault_of_ours_is_not_called_bad_input(capsys, monkeypatch):
    """A ValueError that nobody raised on purpose: NumPy's, say."""
    monkeypatch.setattr(algos, "run", lambda options: np.zeros(2).reshape(3))
    code, _, error = shapo(capsys, "algos")
    assert code == 1 and error.startswith("shapo: ValueError: cannot reshape")
    assert error.endswith("(--debug shows where)\n")


def test_debug_shows_where(capsys):
    with pytest.raises(ValueError, match="holds no run"):
        cli.main(["evaluate", "nowhere", "--debug"])


def test_every_choice_of_an_experiment_is_an_option():
    parser = Parser()
    add_experiment_options(parser)
    different = {
        name: {int: 7, float: 0.125, str: "X"}.get(type(value), value)
        for name, value in dataclasses.asdict(Experiment()).items()
    }
    words = []
    for name, value in different.items():
        values = value if isinstance(value, tuple) else (value,)
        words += [f"--{name.replace('_', '-')}", *map(str, values)]
    by_name = {
        "algo": "cpo", "gradient": "m:Rule(x=1)", "critic_gradient": "sam", "schedule": "alpha", "cost": "m:f",
        "pcpo_projection": "l2", "values": "wcpg",
    }  # fmt: skip
    different |= by_name
    for name in by_name:
        words[words.index(f"--{name.replace('_', '-')}") + 1] = different[name]
    assert experiment_choices(parser.parse_args(words)) == different
    assert experiment_choices(parser.parse_args([])) == {}
    assert experiment_choices(parser.parse_args(["--steps", "1e6"])) == {"steps": 1_000_000}
    twice = parser.parse_args(["--cost-limit", "1", "--cost-limit", "2"])
    assert experiment_choices(twice) == {"cost_limit": (1.0, 2.0)}, "one per cost signal"


def test_help_names_the_algorithms_with_which_a_choice_does_something():
    idle = {algo: Experiment(algo=algo).idle() for algo in Algo.__args__}
    for name, text in field_docs(Experiment).items():
        words = re.findall(r"[\w-]+", " ".join(re.findall(r"\(.*?\)", text)))
        if named := set(words) & set(Algo.__args__):
            busy = {algo for algo in idle if name not in idle[algo]}
            but = "PPO family but" in text
            assert named == (set(EPOCHS) - busy if but else busy - {"ppo-saute"}), name


def test_lists_come_as_json(capsys):
    rows = json.loads(shapo(capsys, "envs", "--json")[1])
    assert [row["id"] for row in rows] == list(IDS)
    assert rows[1]["observations"] == 60 and rows[1]["cost"] == "1 at hazards"
    lists = json.loads(shapo(capsys, "algos", "--json")[1])
    assert lists["gradient"] == algos.GRADIENTS and lists["algo"].keys() == set(Algo.__args__)
    assert lists["algo"]["rcpo"] == "the natural policy gradient with a Lagrange multiplier"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cli") / "run"
    command = [
        sys.executable,
        "-m",
        "shapo",
        "train",
        *TINY,
        "--steps",
        "200",
        "--out",
        str(folder),
    ]
    done = subprocess.run(command, cwd=HERE, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder, done.stdout


def test_train_prints_pairs_when_nobody_watches(run):
    folder, out = run
    *lines, last = out.strip().splitlines()
    assert last == f"run={folder}"
    pairs = dict(pair.split("=") for pair in lines[-1].split())
    assert (
        pairs["iteration"] == "1" and pairs["steps"] == "200" and float(pairs["reward/episode"]) < 0
    )


def test_a_finished_run_names_what_to_do_with_it(run, capsys, monkeypatch):
    monkeypatch.chdir(HERE)
    words = ["train", "--resume", run[0], "--env", "toy_env:Toy"]
    assert shapo(capsys, *words)[1].splitlines() == [
        "finished already; --steps above 200 goes on",
        f"run={run[0]}",
    ]
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    out = shapo(capsys, *words)[1]
    offered = [line.split("shapo ")[1].split() for line in out.splitlines()[-3:]]
    assert [name for name, *_ in offered] == ["evaluate", "play", "report"]
    assert shapo(capsys, *offered[0], "--episodes", "2")[0] == 0


def test_a_config_is_trained_with_again(capsys, run, monkeypatch, tmp_path):
    monkeypatch.chdir(HERE)
    words = ["train", "--config", run[0] / "config.json", "--out", tmp_path / "again"]
    code, _, error = shapo(capsys, *words)
    assert code == 2 and "add --env toy_env:Toy to say that you trust it" in error
    assert shapo(capsys, *words, "--env", "toy_env:Toy")[0] == 0
    same_files(tmp_path / "again", run[0])

    written = {
        "env": "toy_env:Toy",
        "num_envs": 2,
        "steps_per_env": 50,
        "hidden": [8],
        "workers": 1,
    }
    (tmp_path / "mine.json").write_text(json.dumps({"experiment": written | {"steps": 1e6}}))
    words = ["train", "--config", tmp_path / "mine.json", "--env", "toy_env:Toy", "--steps", "100"]
    assert shapo(capsys, *words, "--out", tmp_path / "mine")[0] == 0
    made = Run.open(tmp_path / "mine").experiment
    assert made == Experiment(**written | {"hidden": (8,), "steps": 100})

    assert "leave --config away" in shapo(capsys, *words, "--resume", tmp_path / "mine")[2]
    assert "no.json is missing" in shapo(capsys, "train", "--config", tmp_path / "no.json")[2]


@pytest.mark.parametrize(
    "file, content, said",
    [
        ("my.json", '{"algo": "cpo"}', 'belong in it like this, {"experiment": {"algo": "cpo"}}'),
        ("my.json", '{"experiment": {"alog": "cpo"}}', "no choice 'alog'; did you mean algo?\n"),
        ("my.json", '{"experiment": {"steps": "many"}}', "steps is 'many'; it must be a whole"),
        ("my.json", '{"experiment": {"steps": 1, "steps": 2}}', "'steps' stands there twice"),
        ("my.yaml", "algo: cpo\n", 'which is JSON: {"experiment": {"algo": "cpo"}}; a grid is for'),
    ],
)
def test_a_config_written_by_hand_is_told_what_is_wrong(capsys, tmp_path, file, content, said):
    (tmp_path / file).write_text(content)
    code, _, error = shapo(capsys, "train", "--config", tmp_path / file)
    assert code == 2 and f"{file} is not a run's config" in error and said in error


def test_resume_refuses_a_changed_choice(capsys, run, monkeypatch):
    monkeypatch.chdir(HERE)
    words = ["train", "--resume", run[0], "--env", "toy_env:Toy", "--radius-per-dim", "0.5"]
    code, _, error = shapo(capsys, *words)
    assert code == 2 and "radius_per_dim is 0.01 in the run, 0.5 was asked for" in error


def test_evaluate(capsys, run, monkeypatch):
    monkeypatch.chdir(HERE)
    own = ["--env", "toy_env:Toy", "--episodes", "3"]
    code, out, _ = shapo(capsys, "evaluate", run[0], *own, "--json")
    found = json.loads(out)
    assert code == 0 and found["mean action"]["episodes"] == 3
    assert found["sampled action"]["return"] != found["mean action"]["return"]
    code, out, _ = shapo(capsys, "evaluate", run[0], *own, "--max-steps", "7")
    assert code == 0 and out.startswith("toy_env:Toy, 3 episodes each")
    assert out.count("3 of 3 episodes did not end and were cut after 7 steps") == 2


def test_one_episode_is_still_json(capsys, run, monkeypatch):
    monkeypatch.chdir(HERE)
    words = ["evaluate", run[0], "--env", "toy_env:Toy", "--episodes", "1", "--json"]
    out = shapo(capsys, *words)[1]
    strict = json.loads(out, parse_constant=pytest.fail)
    assert strict["mean action"]["return_error"] is None
    assert "nan" not in shapo(capsys, *words[:-1])[1]


@pytest.mark.parametrize("command", ["evaluate", "play", "train --resume"])
def test_the_code_that_a_folder_names_is_not_imported_unless_asked(
    capsys, tmp_path, monkeypatch, command
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "trap.py").write_text("raise SystemExit('the folder was believed')")
    folder = hostile.write_run(tmp_path / "run", hostile.EXPERIMENT.replace(env="trap:Toy"))
    code, out, error = shapo(capsys, *command.split(), folder)
    assert code == 2 and not out and error.count("\n") == 1
    assert "this run uses trap:Toy; add --env trap:Toy to say that you trust it" in error
    assert "trap" not in sys.modules


def test_runs_of_your_own_classes_are_found_again(capsys, tmp_path, monkeypatch):
    """A run begun in Python with a class is evaluated and resumed from the command line."""
    monkeypatch.chdir(HERE)
    folder = tmp_path / "run"
    train(TOY, folder, env=Toy)
    words = ["evaluate", folder, "--env", "toy_env:Toy", "--episodes", "2"]
    assert shapo(capsys, *words)[1].startswith("toy_env:Toy, 2 episodes each")
    words[3] = "toy_env:Slow"
    out = shapo(capsys, *words)[1]
    assert out.startswith("toy_env:Slow (trained on toy_env:Toy), 2 episodes each")
    assert shapo(capsys, "train", "--resume", folder)[0] == 2
    words = ["train", "--resume", folder, "--env", "toy_env:Toy"]
    code, out, _ = shapo(capsys, *words)
    assert code == 0 and out.endswith(f"run={folder}\n")


def test_play(capsys, run, monkeypatch, tmp_path):
    import imageio.v2 as imageio

    monkeypatch.chdir(HERE)
    film = ["play", run[0], "--env", "toy_env:Toy", "--out", tmp_path / "film.gif", "--every", "5"]
    code, out, _ = shapo(capsys, *film, "--size", "256")
    assert code == 0 and str(tmp_path / "film.gif") in out
    assert len(imageio.mimread(tmp_path / "film.gif")) == 6  # of 25 steps, and the end
    assert "was cut after 9 steps" in shapo(capsys, *film, "--size", "64", "--max-steps", "9")[1]


def test_a_film_of_odd_size_is_a_film(capsys, run, monkeypatch, tmp_path):
    import imageio.v2 as imageio

    monkeypatch.chdir(HERE)
    out = tmp_path / "film.mp4"
    words = ["play", run[0], "--env", "toy_env:Toy", "--out", out, "--size", "65"]
    assert shapo(capsys, *words)[0] == 0
    frames = imageio.mimread(out)
    assert len(frames) == 14 and frames[0].shape == (76, 66, 3)


def test_agents_side_by_side(capsys, run, monkeypatch, tmp_path):
    import imageio.v2 as imageio

    monkeypatch.chdir(HERE)
    out = tmp_path / "film.mp4"
    words = ["play", run[0], run[0], "--env", "toy_env:Toy", "--out", out, "--size", "70"]
    code, said, _ = shapo(capsys, *words)
    assert code == 0 and imageio.mimread(out)[0].shape == (80, 140, 3)
    one, two, _ = said.splitlines()
    assert one == two and "return -" in one


def test_no_half_a_film_is_left_behind(capsys, run, monkeypatch, tmp_path):
    monkeypatch.chdir(HERE)
    monkeypatch.setattr(Toy, "render", lambda *_: 1 / 0)
    out = tmp_path / "film.mp4"
    assert shapo(capsys, "play", run[0], "--env", "toy_env:Toy", "--out", out)[0] == 1
    assert list(tmp_path.iterdir()) == []
    for place, why in ((tmp_path / "nowhere", "No such file"), (Path(__file__), "Not a directory")):
        words = ["play", run[0], "--env", "toy_env:Toy", "--out", place / "film.mp4"]
        code, _, error = shapo(capsys, *words)
        assert (
            code == 2 and f"film.mp4 cannot be written: {why}" in error and error.count("\n") == 1
        )
    monkeypatch.setattr(Toy, "render", lambda *_: Env().render())
    code, _, error = shapo(capsys, "play", run[0], "--env", "toy_env:Toy", "--out", out)
    assert code == 2 and "toy_env:Toy has no render()" in error and list(tmp_path.iterdir()) == []


def test_compare(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(HERE)
    words = ["compare", *TINY, "--steps", "200", "--seeds", "1", "--out", tmp_path / "c", "--json"]
    code, out, error = shapo(capsys, *words)
    assert code == 0, error
    for format in ("png", "svg", "pdf"):
        assert (tmp_path / "c" / f"comparison.{format}").stat().st_size > 10_000
    found = json.loads(next(line for line in out.splitlines() if line.startswith("{")))
    assert [arm["name"] for arm in found["arms"]] == ["plain", "shapo"]
    assert all(len(arm["values"]["return"]) == 1 for arm in found["arms"])
    lines = [line.split() for line in out.splitlines() if line.startswith("run=")]
    assert [line[0] for line in lines if "iteration=1" in line] == ["run=1/2", "run=2/2"]
    assert lines[0][1] == "name=toy_env-Toy_trpo_plain_s0"
    foretold = ["seconds_left_in_all=" in line[-1] for line in lines]
    assert foretold == ["iteration=0" not in line for line in lines], "the first compiles"
    assert lines[-1][-1] == "seconds_left_in_all=0"
    again = shapo(capsys, *words)[1]  # nothing left to train
    assert "iteration=" not in again and json.loads(again.splitlines()[-2]) == found


DEAF = """
import os, signal, time
from shapo.cli import main as cli

class Deaf:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.1)

def dispatch(words):
    Deaf()
    time.sleep(10_000)

cli.dispatch = dispatch
cli.main()
"""


def test_ctrl_c_is_heard_also_where_python_cannot_raise():
    command = [sys.executable, "-c", DEAF]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    assert (done.returncode, done.stderr) == (130, "shapo: stopped\n")


@pytest.mark.parametrize("closed", [">&-", "<&- >&- 2>&-"])
def test_whoever_starts_it_may_have_closed_the_standard_streams(closed):
    command = f"{shlex.quote(sys.executable)} -m shapo algos {closed}"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=PATIENCE)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
