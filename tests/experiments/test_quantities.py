"""A run's numbers are those of its progress.csv, counted by hand."""

import csv
from statistics import fmean

import pytest
from synthetic import write_run

from shapo.experiment import Experiment
from shapo.experiments import quantities
from shapo.runs.reading import read_runs

HUNDRED = Experiment(steps=2_000_000)  # iterations


def test_each_is_of_its_part_of_the_training(tmp_path):
    write_run(tmp_path / "run", HUNDRED)
    (run,) = read_runs(tmp_path).runs
    with open(tmp_path / "run" / "progress.csv") as file:
        rows = list(csv.DictReader(file))
    column = lambda name: [float(row[name]) for row in rows]
    assert len(rows) == 100
    expected = {
        quantities.RETURN: fmean(column("reward/episode")[90:]),
        quantities.RETURN_ALL_ALONG: fmean(column("reward/episode")),
        quantities.COST: fmean(column("cost/episode")[90:]),
        quantities.COST_P95: fmean(column("cost/p95")[90:]),
        quantities.COST_RATE: column("cost/rate")[-1],
        quantities.TOTAL_COST: column("cost/total")[-1],
    }
    for quantity, value in expected.items():
        assert quantity.of(run) == pytest.approx(value, rel=1e-12), quantity


def test_of_several_costs_each_has_its_column():
    second = quantities.numbered(quantities.COST_RATE, 2)
    assert second == ("cost rate 2", "cost/rate_2", "so far")
