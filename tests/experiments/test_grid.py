"""Grids in files: what they stand for, and what is refused."""

import itertools

import pytest

from shapo.experiment import Experiment
from shapo.experiments.sweep.grid import experiments, read_grid
from shapo.experiments.sweep.naming import run_names

GRID = {
    "env": ["SafetyPointGoal1-v0", "Ant-v4"],
    "algo": ["crpo", "trpo-pid"],
    "gradient": ["plain", "shapo"],
    "seeds": 3,
}


def test_every_combination_with_published_values():
    expected = {
        Experiment(env, algo, gradient, seed=seed)
        for env, algo, gradient, seed in itertools.product(*list(GRID.values())[:3], range(3))
    }
    found = experiments(GRID)
    assert len(found) == len(expected) == 24 and set(found) == expected


def test_yaml_and_toml_say_the_same(tmp_path):
    (tmp_path / "grid.yaml").write_text(
        "base: {algo: cpo, hidden: [32, 16]}\nsteps: 1e6\ncost_limit: [10, 25.5]\nseeds: [4, 2]\nradius_per_dim: 1e-3\n"
    )
    (tmp_path / "grid.toml").write_text(
        "steps = 1e6\ncost_limit = [10, 25.5]\nseeds = [4, 2]\nradius_per_dim = 0.001\n"
        "[base]\nalgo = 'cpo'\nhidden = [32, 16]\n"
    )
    found = read_grid(tmp_path / "grid.yaml")
    assert found == read_grid(tmp_path / "grid.toml")
    # What varies fastest is what is stated last; seeds come last of all.
    assert [(each.cost_limit, each.seed) for each in found] == [
        ((10.0,), 4), ((10.0,), 2), ((25.5,), 4), ((25.5,), 2)
    ]  # fmt: skip
    assert {(each.steps, each.hidden, each.radius_per_dim) for each in found} == {
        (1_000_000, (32, 16), 1e-3)
    }
    assert type(found[0].steps) is int


def test_several_networks_and_several_costs():
    found = experiments({"hidden": [[64, 64], [256]], "cost_limit": [[10, 20]]})
    assert [(each.hidden, each.cost_limit) for each in found] == [
        ((64, 64), (10.0, 20.0)), ((256,), (10.0, 20.0))
    ]  # fmt: skip


def test_variants_take_the_rest_from_above_and_equal_ones_are_one():
    variants = [
        {"gradient": "plain"},
        {"gradient": "shapo", "pessimism": [1e-5, 1e-4], "seeds": [7]},
        {"gradient": "plain", "steps": 1000},
    ]
    found = experiments({"steps": 1000, "seeds": 2, "runs": variants})
    assert [(each.gradient, each.pessimism, each.seed) for each in found] == [
        ("plain", 1e-4, 0), ("plain", 1e-4, 1), ("shapo", 1e-5, 7), ("shapo", 1e-4, 7)
    ]  # fmt: skip
    assert found[2].critic_gradient == "sam"


def test_a_single_value_may_be_for_some_of_the_runs_only():
    found = experiments(
        {"gradient": ["plain", "shapo"], "pessimism": 1e-5, "algo": ["crpo", "ppo"]}
    )
    assert len(found) == 4 and {each.pessimism for each in found} == {1e-5}


def test_an_environment_under_two_names_is_run_once():
    assert experiments({"env": ["PointGoal1-v0", "SafetyPointGoal1-v0"]}) == [Experiment()]


@pytest.mark.parametrize(
    "grid, hint",
    [
        ({"alog": "cpo"}, "unknown key 'alog'; did you mean algo?"),
        ({"rho-critic": 0.1}, "did you mean rho_critic?"),
        ({"radius": 0.1}, "did you mean radius_per_dim?"),
        ({"runs": [{"pesimism": 1}]}, "did you mean pessimism?"),
        ({"base": {"runs": []}}, "unknown key 'runs'"),
        ({"algo": "trpo-pdi"}, "did you mean trpo-pid?"),
        ({"seeds": 0}, "at least one is needed"),
        ({"seeds": -2}, "at least one is needed"),
        ({"seeds": []}, "at least one is needed"),
        ({"seeds": [1, 1]}, "names a seed twice"),
        ({"seeds": 1, "seed": 1}, "keep one"),
        ({"seeds": "many"}, "seeds: 'many' is no whole number"),
        ({"steps": "1.5"}, "steps: '1.5' is no whole number"),
        ({"steps": 0}, "must be at least 1"),
        ({"radius_per_dim": "wide"}, "radius_per_dim: 'wide' is no number"),
        ({"radius_per_dim": True}, "radius_per_dim cannot be True"),
        ({"radius_per_dim": None}, "radius_per_dim cannot be None"),
        ({"radius_per_dim": {"a": 1}}, "radius_per_dim cannot be"),
        ({"algo": []}, "empty list"),
        ({"base": {"steps": 1}, "steps": 2}, "stated twice"),
        ({"base": 3}, "must be pairs"),
        ({"runs": {}}, "runs must be a list"),
        ({"runs": ["shapo"]}, "variant 1 must be pairs"),
        ({"discount": 99}, "discount is 99.0; it must be at least 0 and at most 1"),
        (
            {"pessimism": 1e-5},
            "pessimism does nothing in a run with algo trpo-pid and gradient plain",
        ),
        ({"ppo_rate": [1e-3, 1e-4], "algo": "trpo"}, "ppo_rate does nothing"),
        ({"gradient": ["plain", "shapo"], "pessimism": [1e-5, 1e-4]}, "it needs gradient shapo"),
        (
            {"gradient": "shapo", "schedule": ["fixed", "alpha"], "alpha": [0.1, 0.2]},
            "alpha does nothing in a run with algo trpo-pid and gradient shapo: it needs schedule alpha",
        ),
    ],
)
def test_bad_grids_are_refused_by_name(grid, hint):
    with pytest.raises(ValueError) as refusal:
        experiments(grid)
    assert hint in str(refusal.value)


@pytest.mark.parametrize(
    "name, content, hint",
    [
        ("grid.yaml", "a: [", "cannot be read: line 1: expected"),
        ("grid.toml", "a = ", "cannot be read"),
        ("grid.yaml", "algo: cpo\nseeds: 2\nalgo: crpo\n", "line 3: algo is stated in line 1, too"),
        (
            "grid.yaml",
            "runs:\n- {algo: cpo}\n- {algo: cpo, algo: trpo}",
            "line 3: algo is stated in",
        ),
        ("grid.yaml", "base: &all {alog: *all}", "unknown key 'alog'"),
        ("grid.toml", "algo = 'cpo'\nalgo = 'crpo'", "cannot be read: Cannot overwrite a value"),
        ("grid.yaml", "", "nothing in it"),
        ("grid.yaml", "- 3", "must be pairs"),
        ("grid.txt", "a", "ending in .yaml"),
    ],
)
def test_bad_files_are_refused_by_name(tmp_path, name, content, hint):
    (tmp_path / name).write_text(content)
    with pytest.raises(ValueError) as refusal:
        read_grid(tmp_path / name)
    assert hint in str(refusal.value) and name in str(refusal.value)


def test_names_say_what_differs_and_nothing_else():
    grid = experiments({**GRID, "steps": 1000, "env": "SafetyPointGoal1-v0", "algo": "crpo"})
    assert run_names(grid, [], [])[:4:3] == [
        "SafetyPointGoal1-v0_crpo_plain_s0",
        "SafetyPointGoal1-v0_crpo_shapo_s0",
    ]
    finer = [grid[3].replace(pessimism=1e-5)]
    assert run_names(finer, grid, []) == ["SafetyPointGoal1-v0_crpo_shapo_pessimism=1e-5_s0"]


def test_names_are_folders_and_never_the_same():
    hard = experiments({
        "env": ["a/b:C", "a-b-C"], "radius_per_dim": [0.1, 0.1 + 1e-16, 0.1000001], "hidden": [[8], [8, 8]], "seeds": 2,
    })  # fmt: skip
    names = run_names(hard, [], [])
    assert len(set(names)) == len(hard) == 2 * 3 * 2 * 2
    assert all(set("/:") & set(name) == set() for name in names)
    again = run_names(hard, [], names)
    assert not set(names) & set(again) and len(set(again)) == len(hard)
    long = hard[0].replace(env="x" * 300)
    assert len(run_names([long], [], [])[0]) < 200
    wide = long.replace(env=f"{'迷' * 90}:Maze")
    assert len(run_names([wide], [], [])[0].encode()) < 200
