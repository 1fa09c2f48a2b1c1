"""Gymnasium environments on our contract, against the same environments driven by hand."""

import collections
import functools
import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from shapo import envs
from shapo.envs import gymnasium_in
from shapo.envs.gymnasium_in import CannotReplay, episode_seed
from shapo.envs.heartbeat import heard_by
from shapo.envs.protocol import Remark
from shapo.words import BadInput


class Corridor(gymnasium.Env):  # a user's own environment
    observation_space = spaces.Box(-1, 1, (1,))
    action_space = spaces.Box(-1, 1, (1,))

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.x = self.np_random.uniform(-0.1, 0.1, 1)
        return self.x.copy(), {}

    def step(self, action):
        noise = 0.05 * self.np_random.standard_normal(1)
        self.x = np.clip(self.x + 0.4 * action + noise, -1, 1)
        hit = bool(abs(self.x[0]) == 1)
        return self.x.copy(), float(self.x[0]), hit, False, {"cost": float(hit)}


class SixValues(Corridor):
    """As Safety-Gymnasium's; the info's `cost` is not what counts."""

    def step(self, action):
        obs, reward, terminated, truncated, info = super().step(action)
        return obs, reward, 2 * info["cost"], terminated, truncated, {"cost": -1.0}


class Counters:  # a user's own batch
    id, num_costs, horizon = "Counters", 1, 5
    observation_space = spaces.Box(0, 5, (1,), np.float64)
    action_space = spaces.Discrete(2)

    def __init__(self, num_envs):
        self.num_envs, self.t = num_envs, np.zeros((num_envs, 1))

    def reset(self, seed):
        self.t[:] = 0
        return self.t.copy()

    def step(self, action):
        last, truncated = self.t + 1, self.t[:, 0] == 4
        self.t = np.where(truncated[:, None], 0, last)
        never = np.zeros(self.num_envs, bool)
        return envs.Step(
            self.t.copy(), np.ones(self.num_envs), 1.0 * action, never, truncated, last
        )

    get_state = lambda self: {"t": self.t.copy()}
    set_state = lambda self, state: state["t"].copy()
    render = close = lambda self: None


class Grid(gymnasium.Env):
    """Observations that are no Box, actions that are no vector."""

    observation_space = spaces.Dict({"cell": spaces.Discrete(3), "wind": spaces.Box(-1, 1, (2,))})
    action_space = spaces.Box(-2, 2, (2, 2))

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return {"cell": 1, "wind": np.array([0.5, -0.5], np.float32)}, {}

    def step(self, action):
        assert self.action_space.contains(action)
        wind = np.clip(action[0], -1, 1)
        return {"cell": 2, "wind": wind}, 1.0, False, False, {"cost": 0.0}


def too_fast(obs, action, info):
    return float(abs(obs[2]) > 1.0)


def two_costs(obs, action, info):
    return [obs[0] > 0.0, abs(action[0]) > 1.0]


def test_equals_the_environment_driven_by_hand():
    env = envs.make("Pendulum-v1", 2, cost=too_fast)
    theirs = [gymnasium.make("Pendulum-v1") for _ in range(2)]
    first = [other.reset(seed=5 + i)[0] for i, other in enumerate(theirs)]
    np.testing.assert_array_equal(env.reset(5), first)
    rng = np.random.default_rng(0)
    episode = np.zeros(2, int)
    costs = []
    for _ in range(450):
        action = rng.uniform(-2, 2, (2, 1)).astype(np.float32)
        step = env.step(action)
        for i, other in enumerate(theirs):
            obs, reward, terminated, truncated, _ = other.step(action[i])
            np.testing.assert_array_equal(step.last_obs[i], obs)
            assert step.reward[i] == reward
            assert (step.terminated[i], step.truncated[i]) == (terminated, truncated)
            assert step.cost[i] == float(abs(obs[2]) > 1)
            if truncated:
                episode[i] += 1
                obs, _ = other.reset(seed=episode_seed(5 + i, int(episode[i])))
            np.testing.assert_array_equal(step.obs[i], obs)
        costs.append(step.cost)
    assert (episode == 2).all()
    assert 0 < np.mean(costs) < 1
    assert env.horizon == 200


def test_episodes_differ_and_do_not_depend_on_the_number_of_environments():
    seeds = [episode_seed(seed, episode) for seed in range(20) for episode in range(20)]
    assert len(set(seeds)) == len(seeds)
    assert episode_seed(7, 0) == 7


def test_a_noisy_environment_of_ones_own_resumes_exactly():
    env, fresh = (envs.make(Corridor, 3) for _ in range(2))
    assert (env.id, env.num_costs, env.horizon) == ("Corridor", 1, None)
    env.reset(0)
    plan = np.random.default_rng(0).uniform(-1, 1, (300, 3, 1))
    steps = [env.step(action) for action in plan[:200]]
    assert sum(step.terminated.sum() for step in steps) > 3
    np.testing.assert_array_equal(fresh.set_state(env.get_state()), steps[-1].obs)
    for action in plan[200:]:
        for ours, theirs in zip(env.step(action)[:6], fresh.step(action)[:6], strict=True):
            np.testing.assert_array_equal(ours, theirs)


class Unforgetting(Corridor):
    """Each episode begins a little further on than the one before."""

    episodes = 0

    def reset(self, **settings):
        super().reset(**settings)
        self.episodes += 1
        self.x += 0.001 * self.episodes
        return self.x.copy(), {}


def test_what_carries_over_from_one_episode_to_the_next_is_not_resumed():
    env, fresh = (envs.make(Unforgetting, 2) for _ in range(2))
    env.reset(0)
    plan = np.random.default_rng(0).uniform(-1, 1, (100, 2, 1))
    assert sum(env.step(action).terminated.any() for action in plan) > 3
    with pytest.raises(
        CannotReplay, match=r"Unforgetting cannot be resumed: .*environment 0"
    ) as no:
        fresh.set_state(env.get_state())
    assert "\n" not in str(no.value)


def test_rewards_that_depend_on_former_episodes_are_not_resumed():
    """`NormalizeReward` divides by what it has seen so far, and what is observed does not tell."""
    normalised = lambda: gymnasium.wrappers.NormalizeReward(Corridor())
    env, fresh = (envs.make(normalised, 2) for _ in range(2))
    env.reset(0)
    plan = np.random.default_rng(0).uniform(-1, 1, (100, 2, 1))
    assert sum(env.step(action).terminated.any() for action in plan) > 3
    assert env.get_state()["length"].all()
    with pytest.raises(CannotReplay, match=r"<lambda> cannot be resumed: .* pays another reward"):
        fresh.set_state(env.get_state())


def test_replaying_gives_signs_of_life():
    env, fresh = (envs.make(Corridor, 2) for _ in range(2))
    env.reset(0)
    for _ in range(7):
        env.step(np.zeros((2, 1)))
    beats = []
    with heard_by(lambda: beats.append(1)):
        fresh.set_state(env.get_state())
    assert len(beats) == env.get_state()["length"].sum() > 7


def test_a_batch_of_ones_own():
    env = envs.make(Counters, 3)
    env.reset(0)
    steps = [env.step(np.array([0, 1, 1])) for _ in range(7)]
    assert [step.truncated[0] for step in steps] == [False] * 4 + [True] + [False] * 2
    np.testing.assert_array_equal(steps[4].obs, np.zeros((3, 1)))
    np.testing.assert_array_equal(steps[4].last_obs, np.full((3, 1), 5))


def test_several_costs():
    env = envs.make("Pendulum-v1", 2, cost=two_costs)
    env.reset(0)
    step = env.step(np.array([[0.5], [1.5]]))
    assert env.num_costs == 2
    np.testing.assert_array_equal(step.cost[:, 0], step.last_obs[:, 0] > 0)
    np.testing.assert_array_equal(step.cost[:, 1], [0, 1])


def test_a_cost_function_is_told_what_the_environment_is():
    """The observation that the step led to, and the action within its bounds."""
    env = envs.make("Pendulum-v1", 2, cost=lambda obs, action, info: [obs[2], action[0]])
    env.reset(0)
    step = env.step(np.array([[7.0], [-0.5]]))
    np.testing.assert_array_equal(step.cost, np.stack([step.last_obs[:, 2], [2.0, -0.5]], axis=1))


def test_observations_and_actions_of_any_shape_become_vectors():
    env = envs.make(Grid, 1)
    np.testing.assert_array_equal(env.reset(0), [[0, 1, 0, 0.5, -0.5]])
    step = env.step(np.array([[0.25, 9.0, 0.0, 0.0]]))
    np.testing.assert_array_equal(step.obs, [[0, 0, 1, 0.25, 1.0]])


PICTURE = spaces.Box(0, 255, (16, 16, 3), np.uint8)


@pytest.mark.parametrize(
    "space", [PICTURE, spaces.Dict({"seen": PICTURE, "felt": spaces.Box(0, 1, (3,))})]
)
def test_who_has_pictures_made_into_vectors_is_told(space):
    class Camera(Corridor):
        observation_space = space

        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            return self.observation_space.sample(), {}

        def step(self, action):
            return self.observation_space.sample(), 0.0, False, False, {"cost": 0.0}

    with pytest.warns(Remark, match="^Camera: pictures among its observations .* 7[67]"):
        assert envs.make(Camera, 2).reset(0).shape[1] >= 768


@pytest.mark.parametrize(("furthest", "bound"), [(2.0, 2.0), (1e300, np.inf)])
def test_bounds_of_another_type_are_taken_in_silence(furthest, bound):
    class Wide(Corridor):
        action_space = spaces.Box(-furthest, furthest, (1,), np.float64)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = envs.make(Wide, 1)
    assert env.action_space == spaces.Box(-bound, bound, (1,), np.float32)


def test_who_has_none_is_told_nothing():
    class Bytes(Corridor):
        observation_space = spaces.Box(0, 255, (16,), np.uint8)

        def reset(self, *, seed=None, options=None):
            return np.zeros(16, np.uint8), {}

        def step(self, action):
            return np.zeros(16, np.uint8), 0.0, False, False, {"cost": 0.0}

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        envs.make(Bytes, 1)


@pytest.mark.parametrize("id", ["Pendulum-v1", "CartPole-v1"])
def test_no_cost_is_an_error_that_says_what_to_do(id):
    why = r"step\(\) returned no info\['cost'\].*cost=function.*; trpo, npg, ppo need none"
    with pytest.raises(envs.NoCost, match=f"^{id}: {why}") as error:
        envs.make(id, 2)
    assert "\n" not in str(error.value)


def test_no_info_at_all_is_no_cost_either():
    class Silent(Corridor):
        def step(self, action):
            return *super().step(action)[:4], None

    with pytest.raises(envs.NoCost, match=r"^Silent: step\(\) returned no info\['cost'\]"):
        envs.make(Silent, 1)


def test_a_costless_environment_can_be_free():
    env = envs.make("Pendulum-v1", 2, cost=envs.free)
    env.reset(0)
    step = env.step(np.ones((2, 1)))
    np.testing.assert_array_equal(step.cost, [0.0, 0.0])
    assert env.num_costs == 1


def test_six_values_have_the_cost_as_the_third():
    env, other = envs.make(SixValues, 2), envs.make(Corridor, 2)
    env.reset(3), other.reset(3)
    costs = []
    for action in np.random.default_rng(0).uniform(-1, 1, (100, 2, 1)):
        step, same = env.step(action), other.step(action)
        np.testing.assert_array_equal(step.obs, same.obs)
        np.testing.assert_array_equal(step.cost, 2 * same.cost)
        costs.append(step.cost)
    assert np.mean(costs) > 0


def test_four_values_are_refused():
    class Old(Corridor):
        def step(self, action):
            return super().step(action)[:4]

    with pytest.raises(ValueError, match=r"^Old: step\(\) returned 4 values; Gymnasium's has five"):
        envs.make(Old, 1)


def test_a_step_that_returns_nothing_is_refused():
    class Forgetful(Corridor):
        def step(self, action):
            super().step(action)

    with pytest.raises(BadInput, match=r"^Forgetful: step\(\) returned 1 value; Gymnasium's has"):
        envs.make(Forgetful, 1)


def test_a_factory_that_returns_nothing_is_named():
    def forgetful():
        Corridor()

    with pytest.raises(ValueError, match=r"^forgetful: the factory returned no environment"):
        envs.make(forgetful, 1)


@pytest.mark.parametrize("factory", [dict, collections.UserDict])
def test_a_class_that_is_no_environment_is_named(factory):
    name = factory.__name__
    with pytest.raises(BadInput, match=f"^{name}: what it makes, a {name}, is no gymnasium.Env$"):
        envs.make(factory, 1)


def test_a_class_that_needs_more_is_told_how_to_get_it():
    class Maze(Corridor):
        def __init__(self, size):
            self.size = size

    with pytest.raises(BadInput, match=r"^Maze: missing .*'size'; pass functools.partial\(Maze, "):
        envs.make(Maze, 1)
    assert envs.make(functools.partial(Maze, size=3), 1).num_envs == 1
    assert envs.make(Maze, 1, size=3).num_envs == 1


def test_an_environment_that_is_made_already_is_refused():
    with pytest.raises(BadInput, match=r"^this Corridor is made already; pass the class, or a"):
        envs.make(Corridor(), 1)  # type: ignore[arg-type]


def test_a_reset_of_former_days_is_refused():
    class Old(Corridor):
        def reset(self, *, seed=None, options=None):
            return super().reset(seed=seed)[0]

    with pytest.raises(ValueError, match=r"^Old: reset\(\) must return two values, \(observation"):
        envs.make(Old, 1)


def test_an_observation_that_is_not_of_its_space_is_named():
    class Wide(Corridor):
        observation_space = gymnasium.spaces.Box(-1, 1, (8, 8, 3))

    with pytest.raises(
        ValueError, match=r"^Wide: an observation has the shape \(\d+,\), and its .* \(8, 8, 3\)"
    ):
        envs.make(Wide, 1)


def test_a_factory_that_returns_no_batch_is_refused():
    def wrong(num_envs):
        return Corridor()

    said = "wrong takes num_envs but returned a Corridor, .* lacks id, num_envs, num_costs, .*state"
    with pytest.raises(ValueError, match=said):
        envs.make(wrong, 2)


def test_a_factory_that_returns_another_number_of_environments_is_refused():
    def five(num_envs):
        return Counters(5)

    with pytest.raises(BadInput, match=r"^five was asked for num_envs=2 and returned 5; return as"):
        envs.make(five, 2)
    assert envs.make(five, 5).num_envs == 5


def test_options_reach_the_environment_and_pictures_need_one():
    drawn = envs.make("Pendulum-v1", 1, cost=too_fast, g=0.0)
    still = drawn.reset(0)
    assert drawn.step(np.zeros((1, 1))).obs[0, 2] == pytest.approx(still[0, 2])
    with pytest.raises(ValueError, match="Pendulum-v1: make it with render_mode"), pytest.warns():
        drawn.render()


def test_a_factory_that_returns_the_same_environment_twice_is_refused():
    mine = Corridor()

    def again():
        return mine

    wrapped = lambda: gymnasium.wrappers.TimeLimit(mine, 10)
    for factory, name in ((again, "again"), (wrapped, "<lambda>")):
        with pytest.raises(ValueError, match=f"^{name}: the factory returned the same .* twice"):
            envs.make(factory, 2)
        assert envs.make(factory, 1).num_envs == 1


@pytest.mark.parametrize("limits", [(50,), (50, 80), (80, 50)])
def test_a_time_limit_around_a_class_of_ones_own_is_found(limits):
    def bounded():
        env = Corridor()
        for limit in limits:
            env = gymnasium.wrappers.RescaleAction(gymnasium.wrappers.TimeLimit(env, limit), -1, 1)
        return env

    env = envs.make(bounded, 2)
    assert env.horizon == 50
    assert envs.Saute(env, 1.0).horizon == 50


def test_the_shorter_of_two_time_limits_counts_whatever_the_spec_says():
    longer = lambda: gymnasium.wrappers.TimeLimit(gymnasium.make("Pendulum-v1"), 300)
    assert envs.make(longer, 1, cost=too_fast).horizon == 200
    shorter = lambda: gymnasium.wrappers.TimeLimit(gymnasium.make("Pendulum-v1"), 30)
    assert envs.make(shorter, 1, cost=too_fast).horizon == 30


class Dial(Corridor):
    """Turned to a whole number."""

    action_space = spaces.Box(np.array([[10, -4]]), np.array([[20, 4]]), dtype=np.int64)

    def step(self, action):
        assert self.action_space.contains(action)
        return *super().step(np.zeros(1))[:4], {"cost": 0.0, "turned": action.ravel().tolist()}


class Byte(Dial):
    action_space = spaces.Box(10, 200, (1, 2), np.uint8)


@pytest.mark.parametrize(
    ("kind", "action", "turned"),
    [
        (Dial, [14.6, -1.2], [15, -1]),
        (Dial, [-3.0, 99.0], [10, 4]),
        (Byte, [-3.0, 300.0], [10, 200]),
        (Byte, [11.4, 11.6], [11, 12]),
    ],
)
def test_whole_numbers_are_the_nearest_within_their_bounds(kind, action, turned):
    seen = []
    env = envs.make(kind, 1, cost=lambda obs, action, info: seen.append(info["turned"]) or 0.0)
    env.step(np.array([action]))
    assert seen[-1] == turned


@pytest.mark.parametrize(("first", "later"), [(2, 1), (1, 2), (2, 3)])
def test_a_number_of_costs_that_changes_is_refused(first, later):
    steps = []

    def moody(obs, action, info):
        steps.append(1)
        return np.ones(first if len(steps) < 3 else later)

    env = envs.make(Corridor, 1, cost=moody)
    env.step(np.zeros((1, 1)))
    with pytest.raises(ValueError, match=rf"^Corridor: .*cost.* {later} value.* {first};") as error:
        env.step(np.zeros((1, 1)))
    assert "\n" not in str(error.value)


class Closed(Corridor):
    """Counts who is open."""

    opened, closed = 0, 0

    def __init__(self, fails_at=99):
        Closed.opened += 1
        if Closed.opened == fails_at:
            Closed.opened -= 1
            raise KeyError("no more mazes")

    def close(self):
        Closed.closed += 1


class Costless(Closed):
    def step(self, action):
        return *super().step(action)[:4], {}


class Bits(Closed):
    action_space = spaces.MultiBinary(3)


class Odd(Closed):
    observation_space = spaces.Sequence(spaces.Discrete(3))


class Unbegun(Closed):
    def reset(self, **settings):
        return super().reset(**settings)[0] if Closed.opened == 3 else super().reset(**settings)


@pytest.mark.parametrize("kind", [Costless, Bits, Odd, Unbegun, "half-way", "the same", "none"])
def test_whatever_was_made_is_closed_if_something_fails(monkeypatch, kind):
    monkeypatch.setattr(Closed, "opened", 0)
    monkeypatch.setattr(Closed, "closed", 0)
    factories = {
        "half-way": lambda: Closed(fails_at=3),
        "the same": functools.cache(lambda: Closed()),
        "none": lambda: Closed() if Closed.opened < 2 else None,
    }
    with pytest.raises((ValueError, KeyError)):
        envs.make(factories.get(kind, kind), 3)
    assert Closed.opened == Closed.closed > 0


class Ajar(Costless):
    """Neither fit for use nor to be closed."""

    def close(self):
        super().close()
        raise KeyError("the door is jammed")


def test_why_something_is_refused_is_told_though_it_cannot_even_be_closed(monkeypatch):
    monkeypatch.setattr(Closed, "opened", 0)
    monkeypatch.setattr(Closed, "closed", 0)
    with pytest.raises(envs.NoCost, match=r"^Ajar: step\(\) returned no info"):
        envs.make(Ajar, 3)
    assert Closed.opened == Closed.closed == 3


def test_a_batch_that_cannot_begin_is_closed():
    closed = []

    class Broken(Counters):
        close = lambda self: closed.append(1)

        def reset(self, seed):
            raise KeyError("no maze")

    with pytest.raises(KeyError):
        envs.make(Broken, 2)
    assert closed == [1]


def test_an_episode_without_an_end_is_refused_with_the_fix(monkeypatch):
    monkeypatch.setattr(gymnasium_in, "LONGEST", 20)
    env = envs.make(Corridor, 2)
    with pytest.raises(
        ValueError, match=r"Corridor: .* 20 steps.*TimeLimit\(env, max_episode_steps"
    ):
        for _ in range(21):
            env.step(np.zeros((2, 1)))
    bounded = envs.make(lambda: gymnasium.wrappers.TimeLimit(Corridor(), 10), 2)
    for _ in range(25):
        bounded.step(np.zeros((2, 1)))
    assert bounded.get_state()["length"].max() == 5
