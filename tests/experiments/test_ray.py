"""The same sweep on a real cluster of several nodes, one of which is lost on the way."""

import sys
import threading
import time

import pytest
from test_resume import same_files

from shapo.experiment import Experiment
from shapo.experiments import sweep
from shapo.experiments.sweep.cluster import Order, train_on_node
from shapo.experiments.sweep.mirror import Changes

EXPERIMENT = Experiment(
    env="toy_env:Slow", algo="trpo", cost_limit=(1.0,), steps=2000, num_envs=2, steps_per_env=50, workers=1,
    hidden=(8,), critic_epochs=1, critic_minibatch=50,
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


def test_a_node_with_another_version_is_refused():
    (only,) = train_on_node(Order(EXPERIMENT, Changes([], []), Changes([], []), "0.0.1"))
    assert only.ended and "install the same everywhere" in only.failure.reason
