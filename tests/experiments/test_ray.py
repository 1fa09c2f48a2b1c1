"""The same sweep on a real cluster of several nodes, one of which is lost on the way."""

import sys
import tempfile
import threading
import time
from importlib.metadata import version
from pathlib import Path

import pytest
from test_resume import same_files

from shapo.experiment import Experiment
from shapo.experiments import sweep
from shapo.experiments.sweep.cluster import Cluster, Order, train_on_node
from shapo.experiments.sweep.engine import Advanced
from shapo.experiments.sweep.mirror import Changes
from shapo.experiments.sweep.plan import Job
from shapo.runs.holding import held

EXPERIMENT = Experiment(
    env="toy_env:Slow", algo="trpo", gradient="own_rules:LookAhead(radius=0.001)", cost_limit=1.0, steps=2000,
    num_envs=2, steps_per_env=50, workers=1, hidden=8, critic_epochs=1, critic_minibatch=50,
)  # fmt: skip


def test_without_ray_the_way_to_install_it_is_said(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ValueError, match=r"pip install 'shapo\[ray\]'"):
        sweep.run([EXPERIMENT], tmp_path, engine="ray")


@pytest.mark.parametrize(
    "address, hint",
    [
        ("ray://127.0.0.1:10001", "client protocol"),
        ("somewhere", "HOST:PORT"),
        ("127.0.0.1:1", "no Ray cluster at 127.0.0.1:1: "),
    ],
)
def test_a_wrong_address_is_told_at_once(address, hint, tmp_path):
    with pytest.raises(ValueError) as refusal:
        sweep.run([EXPERIMENT], tmp_path, engine="ray", address=address)
    assert hint in str(refusal.value)


@pytest.fixture
def nodes():
    """A head that runs nothing and two nodes with one core each."""
    from ray.cluster_utils import Cluster

    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
    workers = [made.add_node(num_cpus=1) for _ in range(2)]
    yield made, workers
    made.shutdown()


@pytest.mark.slow
def test_a_node_is_lost_and_every_run_ends_as_on_one_machine(nodes, tmp_path):
    made, workers = nodes
    wanted = [EXPERIMENT.replace(seed=seed) for seed in range(3)]
    lost_at = []

    def kill_when_a_checkpoint_is_back():
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            begun = {int(path.stem) for path in tmp_path.glob("out/*/checkpoints/*.safetensors")}
            if begun and max(begun) >= 3:
                made.remove_node(workers[0], allow_graceful=False)
                lost_at.append(max(begun))
                return
            time.sleep(0.1)

    killer = threading.Thread(target=kill_when_a_checkpoint_is_back)
    killer.start()
    outcome = sweep.run(wanted, tmp_path / "out", engine="ray", address=made.address)
    killer.join()
    assert lost_at and not outcome.failed and len(outcome.finished) == 3
    for job in sweep.run(wanted, tmp_path / "local").finished:
        same_files(tmp_path / "out" / job.name, job.folder)
    # A run that began anew would have only one session; the lost one has two.
    sessions = [len(list((job.folder / "tensorboard").iterdir())) for job in outcome.finished]
    assert sorted(sessions) == [1, 1, 2]


def test_a_node_has_cleaned_up_when_it_says_that_it_is_done(tmp_path, monkeypatch):
    """Whoever hears the last word may shut the node down; and what a lost task left is removed by the next."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    for name in (
        "lost/run",
        "lost-early/modules",
        "busy/run",
        "about-to-be-held",
        "own/run",
        "own/x",
    ):
        (tmp_path / f"shapo-node-{name}").mkdir(parents=True)
    (tmp_path / "shapo-of-my-own" / "run").mkdir(parents=True)
    stay = {
        f"shapo-{name}" for name in ("node-busy", "node-about-to-be-held", "node-own", "of-my-own")
    }
    order = Order(
        EXPERIMENT.replace(env="nowhere:Maze"), Changes([], []), Changes([], []), version("shapo")
    )
    with held(tmp_path / "shapo-node-busy"):
        for update in train_on_node(order):
            if update.ended:
                assert "cannot import nowhere" in update.failure.reason
                assert {path.name for path in tmp_path.iterdir()} == stay
    assert update.ended


@pytest.mark.slow
def test_nothing_is_left_on_a_node_when_a_sweep_is_stopped(nodes, tmp_path, monkeypatch):
    made, _ = nodes
    (tmp_path / "out").mkdir()
    engine = Cluster(made.address)
    before = set(Path(tempfile.gettempdir()).glob("shapo-node-*"))
    for seed in range(2):
        experiment = EXPERIMENT.replace(seed=seed, steps=1_000_000)
        engine.start(Job(experiment, tmp_path / "out" / str(seed), 0))
    going = set()
    while len(going) < 2:
        going |= {each.name for each in engine.events(1.0) if isinstance(each, Advanced)}
    assert len(set(Path(tempfile.gettempdir()).glob("shapo-node-*")) - before) == 2
    engine.close()
    assert not set(Path(tempfile.gettempdir()).glob("shapo-node-*")) - before


def test_a_node_with_another_version_is_refused():
    (only,) = train_on_node(Order(EXPERIMENT, Changes([], []), Changes([], []), "0.0.1"))
    assert only.ended and "install the same everywhere" in only.failure.reason
