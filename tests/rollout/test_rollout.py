"""Collecting: against a plain loop over the environment, and against itself with other numbers of workers."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from functools import partial
from types import SimpleNamespace

import gymnasium
import numpy as np
import psutil
import pytest
from test_acting import make_actor, mean_action
from toy_env import (
    Crashing,
    Forking,
    Lost,
    Owner,
    Remembering,
    Remote,
    Switches,
    Toy,
    pendulum,
    unbuildable,
)
from waiting import PATIENCE, wait_until

from shapo.experiment import Experiment
from shapo.rollout import crew as crew_module
from shapo.rollout import worker as worker_module
from shapo.rollout.actions import ActionScale, Choices
from shapo.rollout.blueprint import Blueprint
from shapo.rollout.collector import Collector, action_noise
from shapo.rollout.crew import RolloutError
from shapo.rollout.processes import available_cores
from shapo.rollout.rollout import Rollout
from shapo.rollout.worker import TRAINING_SEEDS_BELOW, env_seed
from shapo.types import Batch
from shapo.words import BadInput

EXPERIMENT = Experiment(env="Toy", num_envs=5, steps_per_env=40, seed=3, workers=2)
ACTOR = make_actor((3, 8, 2))


def collected(experiment, iterations=2, restore_after=None):
    """Copies of what each iteration yields; optionally starting from another collection's state."""
    found = []
    log = os.devnull
    with Rollout(Blueprint(experiment, Toy), log) as rollout:
        assert rollout.spec.observation == 3
        rollout.reset() if restore_after is None else rollout.restore(restore_after.state)
        first = 0 if restore_after is None else 1
        for iteration in range(first, iterations):
            rollout.begin(iteration, ACTOR)
            got = rollout.finish()
            batch = type(got.batch)._make(field.copy() for field in got.batch)
            found.append(got._replace(batch=batch))
    return found


@pytest.fixture(scope="module")
def two_workers():
    return collected(EXPERIMENT)


def same(a, b):
    assert len(a) == len(b)
    for x, y in zip(a, b, strict=True):
        np.testing.assert_array_equal(x, y)


def test_batch_is_what_the_environment_did(two_workers):
    env = Toy(5)
    obs = env.reset(env_seed(EXPERIMENT.seed, 0))
    for got in two_workers:
        batch = got.batch
        for t in range(EXPERIMENT.steps_per_env):
            np.testing.assert_array_equal(batch.obs[t], obs.astype(np.float32))
            step = env.step(batch.action[t].astype(np.float64))
            np.testing.assert_array_equal(batch.next_obs[t], step.last_obs.astype(np.float32))
            np.testing.assert_array_equal(batch.reward[t], step.reward.astype(np.float32))
            np.testing.assert_array_equal(batch.cost[t, :, 0], step.cost)
            np.testing.assert_array_equal(batch.terminated[t], step.terminated)
            np.testing.assert_array_equal(batch.truncated[t], step.truncated & ~step.terminated)
            obs = step.obs


def test_actions_follow_the_policy(two_workers):
    """Standardised by the policy's own mean and spread, actions are the noise that (seed, iteration, env) stand for."""
    for iteration, got in enumerate(two_workers):
        rows = got.batch.obs.reshape(-1, 3)
        mean = mean_action(ACTOR, rows).reshape(got.batch.action.shape)
        noise = (got.batch.action - mean) / np.exp(ACTOR.log_std)
        np.testing.assert_allclose(noise, normal(3, iteration, range(5), 40), atol=1e-4)


REAL, ANY = ActionScale(np.zeros(2), np.ones(2)), Choices(2, 0)


def normal(*arguments):
    """The noise of actions whose deviation is 1."""
    return action_noise(REAL, ACTOR._replace(log_std=np.zeros(2, np.float32)), *arguments)


def test_choices_have_a_noise_of_their_own_with_gumbels_moments():
    noise = action_noise(ANY, ACTOR._replace(log_std=None), 0, 0, range(50), 100)
    assert abs(noise.mean() - np.euler_gamma) < 0.05
    assert abs(noise.std() - np.pi / np.sqrt(6)) < 0.05
    alone = action_noise(ANY, ACTOR, 0, 0, range(7, 9), 100)
    np.testing.assert_array_equal(alone, noise[:, 7:9])


def test_noise_is_normal_and_differs_everywhere():
    noise = normal(0, 0, range(50), 100)
    assert abs(noise.mean()) < 0.04 and abs(noise.std() - 1) < 0.04
    streams = [
        normal(s, i, range(e, e + 1), 4).tobytes() for s in (0, 1) for i in (0, 1) for e in (0, 1)
    ]
    assert len(set(streams)) == 8
    np.testing.assert_array_equal(normal(0, 0, range(7, 9), 100), noise[:, 7:9])


def test_episodes_are_sums_of_the_batch(two_workers):
    """Recomputed step by step over both batches: episodes straddle the border between them."""
    running = [[0.0, 0.0, 0] for _ in range(5)]
    for got in two_workers:
        expected = []
        batch = got.batch
        for t in range(EXPERIMENT.steps_per_env):
            for i in range(5):
                running[i][0] += float(batch.reward[t, i])
                running[i][1] += float(batch.cost[t, i, 0])
                running[i][2] += 1
                if batch.terminated[t, i] or batch.truncated[t, i]:
                    expected.append((i, t, *running[i], batch.terminated[t, i]))
                    running[i] = [0.0, 0.0, 0]
        env, step, returns, costs, length, terminated = zip(*expected, strict=True)
        assert len(expected) >= 5
        np.testing.assert_array_equal(got.episodes.env, env)
        np.testing.assert_array_equal(got.episodes.step, step)
        np.testing.assert_allclose(got.episodes.returns, returns, rtol=1e-5)
        np.testing.assert_allclose(got.episodes.costs[:, 0], costs)
        np.testing.assert_array_equal(got.episodes.length, length)
        np.testing.assert_array_equal(got.episodes.terminated, terminated)


class Stumbling(Toy):
    """Where time runs out it falls as well, in every second environment."""

    def step(self, action):
        step = super().step(action)
        return step._replace(terminated=step.truncated & (np.arange(self.num_envs) % 2 == 0))


def test_a_fall_in_the_last_step_is_a_fall_and_no_truncation():
    """Nothing is bootstrapped from it."""
    collector = Collector(Stumbling(4, horizon=10), 0, 0)
    collector.reset(0)
    real = lambda *shape: np.zeros((25, 4, *shape), np.float32)
    batch = Batch(real(3), real(3), real(2), real(), real(1), real() > 0, real() > 0)
    episodes = collector.collect(ACTOR, 0, batch, lambda: None)
    late = np.isin(np.arange(25), (9, 19))[:, None]
    np.testing.assert_array_equal(batch.terminated, late & [True, False, True, False])
    np.testing.assert_array_equal(batch.truncated, late & [False, True, False, True])
    assert episodes.terminated.tolist() == [True, False, True, False] * 2


@pytest.mark.parametrize("workers", [1, 5])
def test_the_number_of_workers_does_not_matter(two_workers, workers):
    for ours, theirs in zip(
        collected(EXPERIMENT.replace(workers=workers)), two_workers, strict=True
    ):
        same(ours.batch, theirs.batch)
        same(ours.episodes, theirs.episodes)


def test_a_restored_state_goes_on_exactly(two_workers):
    (again,) = collected(EXPERIMENT.replace(workers=1), restore_after=two_workers[0])
    same(again.batch, two_workers[1].batch)
    same(again.episodes, two_workers[1].episodes)


def test_a_batch_stays_as_it_was_until_the_one_after_the_next(two_workers):
    """The learner still reads it while the workers fill another."""
    with Rollout(Blueprint(EXPERIMENT, Toy), os.devnull) as rollout:
        rollout.spec, rollout.reset()
        rollout.begin(0, ACTOR)
        first = rollout.finish().batch
        rollout.begin(1, ACTOR)
        second = rollout.finish().batch
        same(first, two_workers[0].batch)
        same(second, two_workers[1].batch)


def test_no_two_trainings_share_an_environments_seed():
    """Seeds as people choose them, small ones and a large one, with more environments than anybody has."""
    firsts = sorted(env_seed(seed, 0) for seed in (*range(1000), 2**31, 2**63))
    assert np.diff(firsts).min() >= 1000 and firsts[-1] < TRAINING_SEEDS_BELOW
    assert [env_seed(7, env) - env_seed(7, 0) for env in range(3)] == [0, 1, 2]


def test_histories_of_different_length_are_kept():
    with Rollout(Blueprint(EXPERIMENT, Remembering), os.devnull) as rollout:
        rollout.spec, rollout.reset()
        rollout.begin(0, ACTOR)
        state = rollout.finish().state
        rollout.restore(state)
        rollout.begin(1, ACTOR)
        rollout.finish()
    seeds = env_seed(EXPERIMENT.seed, 0) + np.arange(5)
    assert state["env/history"].shape == (5, 1 + max(seeds[0] % 5, seeds[3] % 5))


def test_gymnasium_environments_go_on_exactly():
    experiment = Experiment(env="pendulum", num_envs=2, steps_per_env=30, workers=2, seed=1)
    actor = make_actor((3, 8, 1))
    with Rollout(Blueprint(experiment, pendulum), os.devnull) as rollout:
        rollout.spec, rollout.reset()
        rollout.begin(0, actor)
        state = rollout.finish().state
        rollout.begin(1, actor)
        expected = rollout.finish().batch.obs.copy()
        before = rollout._crew.shared.heartbeat.sum()
        rollout.restore(state)
        rollout.begin(1, actor)
        np.testing.assert_array_equal(rollout.finish().batch.obs, expected)
        # A beat for each step that is played again, and for each of the batch: a slow replay is not taken for stuck.
        assert rollout._crew.shared.heartbeat.sum() - before == 2 * (30 + 30)
        elsewhere = state | {"env/obs": state["env/obs"] + 1}
        with pytest.raises(
            BadInput, match="pendulum cannot be resumed"
        ):  # and not: "continue with …"
            rollout.restore(elsewhere)
            rollout.begin(1, actor)
            rollout.finish()


def shared_memory(process):
    """How often a process maps memory that it shares with workers: it has no name but the one in brackets."""
    maps = process.memory_maps(grouped=False)
    return sum(each.path.startswith("/memfd:shapo") for each in maps)


def test_nothing_stays_behind():
    process = psutil.Process()
    before = set(process.children()), process.num_fds(), shared_memory(process)
    with pytest.raises(KeyError), Rollout(Blueprint(EXPERIMENT, Toy), os.devnull) as rollout:
        rollout.spec, rollout.reset()
        rollout.begin(0, ACTOR)
        assert len(process.children()) == len(before[0]) + 2
        assert shared_memory(process) == before[2] + 1
        raise KeyError("anything")
    assert (set(process.children()), process.num_fds(), shared_memory(process)) == before


def is_running(pid):
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def wait_until_ended(*pids):
    """Who is killed may take a moment to be gone, on a busy machine."""
    wait_until(lambda: not any(map(is_running, pids)))


@pytest.mark.parametrize("how", ["idle", "in a batch", "after a failure", "stubborn"])
def test_environments_are_closed(tmp_path, monkeypatch, how):
    if how == "stubborn":
        monkeypatch.setattr(crew_module, "CLOSING", 0.5)
    end = pytest.raises(KeyError) if how == "after a failure" else contextlib.nullcontext()
    blueprint = Blueprint(EXPERIMENT, partial(Owner, notes=tmp_path, stubborn=how == "stubborn"))
    with end, Rollout(blueprint, tmp_path / "log") as rollout:
        rollout.spec, rollout.reset()
        if how == "in a batch":
            rollout.begin(0, ACTOR)
        if how == "after a failure":
            raise KeyError("anything")
    servers = [int(path.stem) for path in tmp_path.glob("*.begun")]
    closed = [int(path.stem) for path in tmp_path.glob("*.closed")]
    assert len(servers) == 2 and (how == "stubborn" or sorted(closed) == sorted(servers))
    wait_until_ended(*servers)


def test_what_a_crashed_worker_has_started_does_not_outlive_it(tmp_path):
    blueprint = Blueprint(EXPERIMENT, partial(Owner, notes=tmp_path))
    with (
        pytest.raises(RolloutError, match="killed by signal 9"),
        Rollout(blueprint, tmp_path / "log") as rollout,
    ):
        rollout.spec, rollout.reset()
        rollout._crew.workers[0].process.kill()
        rollout.begin(0, ACTOR)
        rollout.finish()
    servers = [int(path.stem) for path in tmp_path.glob("*.begun")]
    assert len(servers) == 2 and len([*tmp_path.glob("*.closed")]) == 1
    wait_until_ended(*servers)


def test_environments_are_closed_that_no_policy_can_act_in(tmp_path):
    blueprint = Blueprint(EXPERIMENT.replace(workers=1), partial(Switches, notes=tmp_path))
    with (
        pytest.raises(BadInput, match="Toy has the action space MultiBinary"),
        Rollout(blueprint, tmp_path / "log") as rollout,
    ):
        rollout.spec  # noqa: B018
    (begun,) = tmp_path.glob("*.begun")
    assert begun.with_suffix(".closed").exists()


def test_environments_are_closed_though_the_signal_comes_when_the_parent_has_hung_up(monkeypatch):
    closed = []

    class Idle:
        def __init__(self, *_):
            pass

        def serve(self):
            raise worker_module.HungUp

        def close(self):
            closed.append(1)

    def just_then(number, action):
        if action is signal.SIG_IGN and number == signal.SIGTERM:
            raise SystemExit  # as `_leave` does

    monkeypatch.setattr(worker_module, "Worker", Idle)
    monkeypatch.setattr(worker_module, "Connection", lambda pipe: SimpleNamespace(recv=str))
    monkeypatch.setattr(worker_module.signal, "signal", just_then)
    with pytest.raises(SystemExit):
        worker_module.main(0, 0)
    assert closed == [1]


def test_no_worker_outlives_a_parent_that_is_killed_while_it_starts(tmp_path):
    """What a worker imports takes its time, here for ever."""
    (tmp_path / "cloudpickle.py").write_text(
        f"open({str(tmp_path / 'importing')!r}, 'w').close()\nimport time\ntime.sleep(1000)\n"
    )
    program = (
        "from shapo.rollout import processes, sharing; import time\n"
        f"worker = processes.start(0, range(1), {os.devnull!r}, sharing.anonymous_file())\n"
        "print(worker.process.pid, flush=True)\ntime.sleep(1000)\n"
    )
    path = os.pathsep.join([str(tmp_path), *sys.path])
    parent = subprocess.Popen(
        [sys.executable, "-c", program],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": path},
    )
    worker = int(parent.stdout.readline())
    while not (tmp_path / "importing").exists():
        assert is_running(worker)
        time.sleep(0.01)
    parent.kill()
    parent.communicate()
    wait_until_ended(worker)


def test_a_crash_in_c_code_leaves_its_place_in_the_log(tmp_path):
    log = tmp_path / "log"
    with (
        pytest.raises(RolloutError, match="killed by signal 11"),
        Rollout(Blueprint(EXPERIMENT.replace(workers=1), Crashing), log) as rollout,
    ):
        rollout.spec, rollout.reset()
        rollout.begin(0, ACTOR)
        rollout.finish()
    assert "Segmentation fault" in log.read_text() and "in step" in log.read_text()


def test_a_crash_is_seen_though_a_forked_process_holds_the_pipe(tmp_path):
    blueprint = Blueprint(EXPERIMENT.replace(workers=1), partial(Forking, notes=tmp_path))
    with (
        pytest.raises(RolloutError, match="killed by signal 9"),
        Rollout(blueprint, tmp_path / "log", patience=5.0) as rollout,
    ):
        rollout.spec, rollout.reset()
        rollout.begin(0, ACTOR)
        rollout.finish()
    left = [int(path.stem) for path in tmp_path.glob("*.begun")]
    assert len(left) == 2
    wait_until_ended(*left)


def test_more_limits_than_costs_are_refused():
    blueprint = Blueprint(EXPERIMENT.replace(cost_limit=(1.0, 2.0)), Toy)
    with (
        pytest.raises(ValueError, match="1 cost signal, and cost_limit names 2"),
        Rollout(blueprint, os.devnull) as rollout,
    ):
        rollout.spec  # noqa: B018


def test_an_unknown_environment_is_refused_with_the_nearest():
    blueprint = Blueprint(Experiment(env="SafetyPointGaol1-v0"))
    with (
        pytest.raises(ValueError, match="SafetyPointGoal1-v0"),
        Rollout(blueprint, os.devnull) as rollout,
    ):
        rollout.spec  # noqa: B018


def test_errors_name_environment_seed_and_log(tmp_path):
    log = tmp_path / "log"
    blueprint = Blueprint(EXPERIMENT.replace(workers=1), partial(Toy, fault="nan", fault_step=3))
    with pytest.raises(RolloutError) as error, Rollout(blueprint, log) as rollout:
        rollout.spec, rollout.reset()
        rollout.begin(0, ACTOR)
        rollout.finish()
    text = str(error.value)
    assert (
        "Toy" in text
        and f"seed {env_seed(3, 4)}" in text
        and "reward nan at step 2" in text
        and str(log) in text
    )


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no full device")
def test_a_full_disk_does_not_hide_what_an_environment_raised():
    blueprint = Blueprint(EXPERIMENT.replace(workers=1), partial(Toy, fault="raise", fault_step=3))
    with (
        pytest.raises(RolloutError, match=r"Toy .* raised ZeroDivisionError: the floor is gone"),
        Rollout(blueprint, "/dev/full") as rollout,
    ):
        rollout.spec, rollout.reset()
        rollout.begin(0, ACTOR)
        rollout.finish()


@pytest.mark.parametrize("when", ["init", "reset", "step"])
@pytest.mark.parametrize("error", [ConnectionResetError, EOFError])
def test_a_connection_that_an_environment_loses_is_not_ours(tmp_path, when, error):
    log = tmp_path / "log"
    blueprint = Blueprint(EXPERIMENT.replace(workers=1), partial(Remote, when=when, error=error))
    said = f"{error.__name__}: the simulator hung up"
    with pytest.raises(RolloutError, match=f"Toy .*{said}"), Rollout(blueprint, log) as rollout:
        rollout.spec, rollout.reset()
        rollout.begin(0, ACTOR)
        rollout.finish()
    assert said in log.read_text() and "in _call" in log.read_text()


def test_a_parent_that_hangs_up_is_no_error(tmp_path):
    log = tmp_path / "log"
    with Rollout(Blueprint(EXPERIMENT, Toy), log) as rollout:
        rollout.spec, rollout.reset()
        workers = [each.process for each in rollout._crew.workers]
        for each in rollout._crew.workers:
            each.pipe.close()
        assert [each.wait(PATIENCE) for each in workers] == [0, 0]
    assert log.read_text() == ""


STOPPED_AND_CONTINUED = """
import os, subprocess, sys
sys.path[:0] = sys.argv[1:]
from test_rollout import ACTOR, EXPERIMENT, Blueprint, Rollout
from toy_env import Slow

with Rollout(Blueprint(EXPERIMENT.replace(workers=1), Slow), os.devnull, patience=1.0) as rollout:
    rollout.spec, rollout.reset()
    rollout.begin(0, ACTOR)
    (worker,) = rollout._crew.workers
    both = f"{os.getpid()} {worker.process.pid}"
    subprocess.Popen(["sh", "-c", f"kill -STOP {both}; sleep 2.5; kill -CONT {both}"])
    print(len(rollout.finish().batch.reward))
"""


def test_time_in_which_everything_was_stopped_does_not_count():
    command = [sys.executable, "-c", STOPPED_AND_CONTINUED, *sys.path]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.stdout == "40\n", done.stderr


class Odd(Toy):
    """Its state has something else in it."""

    def __init__(self, num_envs, kept):
        super().__init__(num_envs)
        self.kept = kept

    def get_state(self):
        return super().get_state() | {"map": self.kept}


@pytest.mark.parametrize(
    ("kept", "what"),
    [
        ([1.0, 2.0], "list"),
        (np.array(3.0), r"float64\(\)"),
        (np.zeros(2), r"float64\(2,\)"),  # of five environments
        (np.zeros(5, object), r"object\(5,\)"),
        (np.zeros(5, complex), r"complex128\(5,\)"),
        (np.full(5, "north"), r"<U5\(5,\)"),
    ],
)
def test_a_state_that_could_not_be_resumed_is_refused_at_once(kept, what):
    blueprint = Blueprint(EXPERIMENT.replace(workers=1), partial(Odd, kept=kept))
    with (
        pytest.raises(
            BadInput, match=rf"^Toy: get_state\(\)\['map'\] is {what}; it must be an array"
        ),
        Rollout(blueprint, os.devnull) as rollout,
    ):
        rollout.spec, rollout.reset()
        rollout.begin(0, ACTOR)
        rollout.finish()


class Misshapen(Toy):
    """Returns something in a shape that NumPy would spread over all environments."""

    def __init__(self, num_envs, what):
        super().__init__(num_envs)
        self.what = what

    def reset(self, seed=0):
        obs = super().reset(seed)
        return obs[0] if self.what == "first" else obs

    def step(self, action):
        step = super().step(action)
        if self.what == "first":
            return step
        value = {
            "cost": np.zeros((1, self.num_envs)),
            "obs": step.obs[0],
            "last_obs": step.last_obs[:1],
        }
        return step._replace(**{self.what: value.get(self.what, step.reward.sum())})


@pytest.mark.parametrize(
    ("what", "shape", "returned"),
    [
        ("first", r"\(5, 3\)", r"\(3,\)"),
        ("obs", r"\(5, 3\)", r"\(3,\)"),
        ("last_obs", r"\(5, 3\)", r"\(1, 3\)"),
        ("reward", r"\(5,\)", r"\(\)"),
        ("cost", r"\(5, 1\)", r"\(1, 5\)"),
        ("terminated", r"\(5,\)", r"\(\)"),
        ("task_reward", r"\(5,\)", r"\(\)"),
    ],
)
def test_what_has_another_shape_is_refused(what, shape, returned):
    blueprint = Blueprint(EXPERIMENT.replace(workers=1), partial(Misshapen, what=what))
    named = "the first observations" if what == "first" else rf"step\(\)\.{what}"
    with (
        pytest.raises(BadInput, match=f"^Toy: {named} must have the shape {shape}, not {returned}"),
        Rollout(blueprint, os.devnull) as rollout,
    ):
        rollout.spec, rollout.reset()
        rollout.begin(0, ACTOR)
        rollout.finish()


@pytest.mark.parametrize(
    "space", [gymnasium.spaces.Discrete(3), gymnasium.spaces.Box(-1.0, 1.0, (3, 2))]
)
def test_observations_that_are_no_vectors_are_refused(space):
    class Seen(Toy):
        observation_space = space

    with (
        pytest.raises(BadInput, match=r"^Toy has the observation space .*; training needs a one-"),
        Rollout(Blueprint(EXPERIMENT.replace(workers=1), Seen), os.devnull) as rollout,
    ):
        rollout.spec  # noqa: B018


@pytest.fixture
def not_for_ever():
    """Whoever hangs is interrupted."""

    def give_up(number, frame):
        raise TimeoutError("it hangs")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(60)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.usefixtures("not_for_ever")
def test_who_is_stuck_in_a_reset_is_not_waited_for_though_a_large_policy_is_to_follow():
    stuck = Blueprint(EXPERIMENT.replace(workers=1), Lost)
    with (
        pytest.raises(RolloutError, match="made no step for 1 s"),
        Rollout(stuck, os.devnull, patience=1.0) as rollout,
    ):
        rollout.spec, rollout.reset()
        rollout.begin(0, make_actor((3, 1000, 1000, 2)))
        rollout.finish()


def test_what_cannot_be_pickled_is_named():
    lock = threading.Lock()
    blueprint = Blueprint(EXPERIMENT, lambda num_envs: (lock, Toy(num_envs))[1])
    with pytest.raises(
        BadInput, match=r"^Toy cannot be sent to the workers: cannot pickle '_thread"
    ):
        Rollout(blueprint, os.devnull)
    with (
        pytest.raises(BadInput, match=r"^Toy cannot be sent to the workers: cannot pickle"),
        Rollout(Blueprint(EXPERIMENT, Toy), os.devnull) as rollout,
    ):
        rollout.wrap(lambda env: (lock, env)[1])


def test_an_environment_that_cannot_be_made_is_named():
    with (
        pytest.raises(RolloutError, match=r"Toy cannot be made: KeyError: 'no such maze'"),
        Rollout(Blueprint(EXPERIMENT, unbuildable), os.devnull) as rollout,
    ):
        rollout.spec  # noqa: B018


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system pins no process")
def test_a_process_pinned_to_one_core_has_one():
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(allowed)})
    try:
        assert available_cores() == 1
    finally:
        os.sched_setaffinity(0, allowed)
    assert available_cores() == len(allowed)
