"""The study's plan is what docs/study.md says, and its verdicts are those of other people's statistics."""

import re
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from synthetic import write_run

from shapo.cli import main as cli
from shapo.experiments import style, sweep
from shapo.experiments.figures.registry import FIGURES
from shapo.experiments.statistics import Interval, apart, in_pairs, weighted_means
from shapo.experiments.study import judging, telling
from shapo.experiments.study.forest import effect
from shapo.experiments.study.plan import FIRST_SEEDS, RADII, blocks, chosen_radius, flagship
from shapo.experiments.study.questions import (
    ACTOR,
    CARRIES,
    CLAIMS,
    COST_RATE,
    CRITICS,
    EARNS,
    FALLS_LESS,
    FISHER,
    RETURN,
    SAUTE_SPARES,
    TAILS,
    TOGETHER,
    TOO_FAR,
    UNCONSTRAINED,
    Contrast,
)
from shapo.experiments.study.verdicts import Finding, foreseen, holm, judged, verdict_on
from shapo.runs.archives import write_archive
from shapo.runs.history import History
from shapo.runs.reading import read_runs

NOTHING = sweep.Outcome([], [])
SKILLS = {"plain": 1.0, "SHAPO δ 1e-4": 0.99, "SHAPO δ 1e-3": 1.5}


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """The flagship's first five seeds, where the larger radius earns half as much again."""
    folder = tmp_path_factory.mktemp("study")
    for number, (name, arm) in enumerate(flagship(FIRST_SEEDS).arms.items()):
        for seed in range(5):
            write_run(
                folder / f"{number}-{seed}",
                arm.replace(seed=seed),
                skill=SKILLS[name],
                seed=10 * number + seed,
            )
    return read_runs(folder).runs


def asked(block):
    """All its contrasts."""
    return [contrast for family in block.families for contrast in family]


def test_the_later_blocks_wait_for_the_first(runs):
    assert [block.name for block in blocks([])] == ["flagship"]
    assert chosen_radius(runs[:-1]) is None  # the last is of the larger radius
    assert chosen_radius(runs) == RADII[1]


def test_the_plan_is_the_one_that_was_written_down(runs):
    found = blocks(runs)
    wanted = {experiment for block in found for experiment in block.experiments()}
    flagships = {e for block in found if block.name == "flagship" for e in block.experiments()}
    steps = lambda name: sum(e.steps for block in found if block.name == name
                             for e in set(block.experiments()) - flagships) / 1e6  # fmt: skip
    assert [len(block.arms) for block in found if block.name == "flagship"] == [3, 3]
    assert [steps(name) for name in ("radius", "parts", "metric", "schedules")] == [
        200, 150, 100, 150,
    ]  # fmt: skip
    assert [steps(name) for name in ("bases", "bases parts")] == [400, 800]  # half of them shared
    assert [steps(f"falls {algo}") for algo in ("trpo-pid", "crpo", "cpo")] == [75, 75, 75]
    assert steps("unconstrained") == 75
    assert steps("falls again") == 300
    assert sum(experiment.steps for experiment in wanted) / 1e6 == 2300


def test_a_radius_is_not_compared_with_others_where_it_was_chosen(runs):
    plain, _, chosen = (arm.essence("seed") for arm in flagship(FIRST_SEEDS).arms.values())
    for block in blocks(runs):
        chosen_by = set(block.seeds) & set(FIRST_SEEDS)
        pairs = [[block.arms[name].essence("seed") for name in pair]
                 for contrast in asked(block) for pair in contrast.arms]  # fmt: skip
        rivals = [pair for pair in pairs if chosen in pair and plain not in pair]
        assert not (chosen_by and rivals), block.name


def test_what_is_there_is_not_run_again(runs):
    block = flagship(range(10))
    left = block.experiments(runs)
    assert {experiment.seed for experiment in left} == set(range(5, 10)) and len(left) == 15
    assert block.experiments()[15:] == left
    assert flagship(FIRST_SEEDS).experiments(runs) == []


def test_what_is_published_is_not_trained_again(runs, tmp_path, monkeypatch, capsys):
    archive = tmp_path / "published" / "flagship.runs.gz"
    archive.parent.mkdir()
    write_archive(runs, archive)
    asked = []
    monkeypatch.setattr(
        sweep, "run", lambda experiments, into: asked.append((experiments, into)) or NOTHING
    )
    into = tmp_path / "new"
    cli.main(["study", "--runs", str(into), str(archive.parent), "--run"])
    assert asked[0] == (flagship(range(10)).experiments(runs), into)
    assert {e.seed for experiments, _ in asked[1:] for e in experiments} <= set(range(15))
    assert "flagship: 15 of 30 runs" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        cli.main(["study", "--runs", str(archive), "--run"])
    assert "is a file; what is trained goes to the first of --runs" in capsys.readouterr().err


def test_what_cannot_be_read_and_what_failed_is_said(runs, tmp_path, monkeypatch, capsys):
    write_archive(runs, tmp_path / "all.runs.gz")
    (tmp_path / "bad.runs.gz").write_bytes((tmp_path / "all.runs.gz").read_bytes()[:-50])
    cli.dispatch(["study", "--runs", str(tmp_path)])
    assert f"skipped {tmp_path}/bad.runs.gz: " in capsys.readouterr().out
    failed = sweep.Outcome([], [("job", "why")])
    monkeypatch.setattr(sweep, "run", lambda experiments, into: failed)
    with pytest.raises(Exception, match="1 run failed; the same command tries again"):
        cli.dispatch(["study", "--runs", str(tmp_path), "--run", "--block", "falls cpo"])
    assert "flagship: 15 of 30 runs" in capsys.readouterr().out  # shown all the same


def test_a_block_can_be_trained_alone(runs, tmp_path, monkeypatch, capsys):
    archive = tmp_path / "flagship.runs.gz"
    write_archive(runs, archive)
    asked = []
    monkeypatch.setattr(
        sweep, "run", lambda experiments, into: asked.append(experiments) or NOTHING
    )
    places = ["study", "--runs", str(tmp_path / "new"), str(archive)]
    cli.main([*places, "--run", "--block", "falls cpo", "flagship"])
    falls, flagships = asked
    assert {(e.env, e.algo) for e in falls} == {("Walker2d-v4", "cpo")} and len(falls) == 15
    assert flagships == flagship(range(10)).experiments(runs)
    for words, complaint in (
        ([*places, "--block", "bases"], "add --run"),
        ([*places, "--run", "--block", "fals cpo"], "no 'fals cpo' among"),
        ([*places[:-1], "--run", "--block", "bases"], "once its first five seeds are there"),
    ):
        with pytest.raises(SystemExit):
            cli.main(words)
        assert complaint in capsys.readouterr().err


def test_more_return_holds_and_less_does_not(runs):
    found = {
        (f.contrast.ours, f.contrast.criterion.quantity.name): f
        for f in judged(flagship(FIRST_SEEDS), runs)
    }
    assert len(found) == 6
    large = found["SHAPO δ 1e-3", "return"]
    assert large.verdict == "holds"
    assert 8 < large.difference.estimate < 12
    assert large.difference.low < large.difference.estimate < large.difference.high
    assert found["SHAPO δ 1e-4", "return"].verdict == "does not hold"


def values(block, runs, *arms, quantity=RETURN.quantity):
    """Of each arm a number per seed."""
    return [[quantity.of(run) for run in block.found(arm, runs)] for arm in arms]


def compared(block, runs):
    """Each finding, and the numbers of both its sides."""
    for found in judged(block, runs):
        quantity = found.contrast.criterion.quantity
        arms = found.contrast.ours, found.contrast.theirs
        yield found, values(block, runs, *arms, quantity=quantity)


def test_the_intervals_are_welchs(runs):
    for found, sides in compared(flagship(FIRST_SEEDS), runs):
        expected = stats.ttest_ind(*sides, equal_var=False)
        assert (1 - 1e-9) * expected.pvalue <= found.p <= min(1, (4 + 1e-9) * expected.pvalue)
        np.testing.assert_allclose(found.difference[1:], expected.confidence_interval(), rtol=1e-9)
        np.testing.assert_allclose(found.means, np.mean(sides, axis=1))


def test_what_is_asked_later_leaves_the_verdicts_as_they_were(runs):
    block = flagship(FIRST_SEEDS)
    both, first = (judged(each, runs) for each in (block, replace(block, asked_later=())))
    assert len(first) == 4 and both[:4] == first
    later = judged(replace(block, contrasts=block.asked_later, asked_later=()), runs)
    assert len(later) == 2 and both[4:] == later
    assert {found.contrast.criterion.quantity.name for found in later} == {"cost p95"}


def test_a_claim_about_several_numbers_says_which_is_which(runs, tmp_path):
    falls = {block.name: block for block in blocks(runs)}["falls trpo-pid"]
    for number, experiment in enumerate(falls.experiments()):
        write_run(tmp_path / str(number), experiment, seed=number)
    rows = {row[0]: row for row in telling.claims([*runs, *read_runs(tmp_path).runs])}
    text, seeds = rows[TAILS.text][2:4]
    assert [part.partition(",")[0] for part in text.splitlines()] == [
        *2 * ["cost p95"],
        *2 * ["cost p80"],
    ]
    assert seeds == "5 of 10, 5"
    assert rows[EARNS.text][2].startswith("SHAPO δ 1e-4 − plain: ")


def test_runs_that_have_a_seed_in_common_are_compared_in_pairs(runs):
    """On Walker2d, as the plan says; nowhere else."""
    paired = {block.name for block in blocks(runs) if block.comparison is in_pairs}
    assert paired == {"falls trpo-pid", "falls crpo", "falls cpo", "falls again", "unconstrained"}
    block = replace(flagship(FIRST_SEEDS), comparison=in_pairs)
    for found, sides in compared(block, runs):
        expected = stats.ttest_rel(*sides)
        np.testing.assert_allclose(found.difference[1:], expected.confidence_interval(), rtol=1e-9)


def test_several_algorithms_are_judged_by_the_mean_of_their_differences(tmp_path, runs):
    (block,) = (block for block in blocks(runs) if block.name == "bases")
    block = replace(block, asked_later=())
    (contrast,) = block.contrasts
    assert len(contrast.among) == 4 and len(block.arms) == 8
    for number, arm in enumerate(block.arms.values()):
        for seed in range(3 + number % 2):
            skill = 1.0 + 0.1 * number
            write_run(tmp_path / f"{number}-{seed}", arm.replace(seed=seed), skill=skill)
    (found,) = judged(block, (bases := read_runs(tmp_path).runs))
    assert found.seeds == 3, "of which there are runs of every arm"
    differences = []
    for ours, theirs in contrast.arms:
        sides = values(block, bases, ours, theirs)
        differences.append(np.mean(sides[0][:3]) - np.mean(sides[1][:3]))
    np.testing.assert_allclose(found.difference.estimate, np.mean(differences))
    assert telling.verdicts(block, bases)[0][0] == ("mean of 4: SHAPO δ 1e-3")


def test_a_block_is_judged_once_when_all_its_seeds_are_there(runs):
    early = [run for run in runs if run.experiment.seed < 4]
    found = judged(flagship(FIRST_SEEDS), early)
    assert {(each.seeds, each.planned, each.verdict) for each in found} == {(4, 5, "open")}
    assert min(each.p for each in found) < 0.05, "which would have been called a difference"
    assert verdict_on([found[0], judged(flagship(FIRST_SEEDS), runs)[0]], 2) == "open"
    rows = telling.verdicts(flagship(FIRST_SEEDS), early)
    assert {row[-2:] for row in rows[:4]} == {("4 of 5", "open")}
    assert {row[-2:] for row in rows[4:]} == {("4 of 5", "open, asked later")}
    assert telling.claims(early)[0][1:4:2] == ("open", "4 of 5")


def test_only_finished_runs_of_the_blocks_own_seeds_are_judged(runs, tmp_path):
    block = flagship(range(1, 4))
    for found, sides in compared(block, runs):
        assert (found.seeds, found.planned) == (3, 3) and np.shape(sides) == (2, 3)
        np.testing.assert_allclose(found.means, np.mean(sides, axis=1))
    for number, experiment in enumerate(flagship(FIRST_SEEDS).experiments()):
        write_run(tmp_path / str(number), experiment, iterations=20)
    going_on = read_runs(tmp_path).runs
    assert judged(flagship(FIRST_SEEDS), going_on) == [] and chosen_radius(going_on) is None
    assert telling.effort(going_on) == telling.effort([])


def test_who_looks_after_every_seed_is_deceived():
    """Of 3, 4 and 5 seeds of four pairs of equal arms, a test at 5 % each: the rule's reason."""
    rng = np.random.default_rng(0)
    once = ever = 0
    for _ in range(2000):
        pairs = rng.normal(size=(4, 2, 5))
        p = [
            weighted_means([
                (weight / 4, values) for pair in pairs for weight, values in apart(*pair[:, :seeds])
            ])[1]
            for seeds in (3, 4, 5)
        ]  # fmt: skip
        once, ever = once + (p[-1] < 0.05), ever + (min(p) < 0.05)
    assert 0.03 < once / 2000 < 0.06 < 0.065 < ever / 2000 < 0.1


def test_what_is_told_are_the_runs_means(runs):
    block = flagship(FIRST_SEEDS)
    assert telling.title(block, runs) == "flagship: 15 of 15 runs"
    told = {row[0]: row for row in telling.arms(block, runs)}
    for name, arm in block.arms.items():
        own = [run for run in runs if run.experiment.essence("seed") == arm.essence("seed")]
        earned = [run.history.final("reward/episode") for run in own]
        error = stats.sem(earned)
        assert told[name][1:3] == ("5", f"{np.mean(earned):.1f} ± {error:.1f}")
        assert (told[name][-1] == "–") == (arm.gradient == "plain"), "which turns nothing"
    few = telling.arms(block, [run for run in runs if run.experiment.seed == 0])
    assert all("±" not in cell for row in few for cell in row)
    assert not telling.verdicts(block, runs[:2]) and len(telling.verdicts(block, runs)) == 6


@pytest.mark.parametrize(
    ("criterion", "difference", "p", "verdict"),
    [
        (RETURN, (3.0, 1.0, 5.0), 0.04, "holds"),
        (
            RETURN,
            (3.0, 1.0, 5.0),
            0.05,
            "undecided",
        ),  # by its interval alone; corrected, it does not
        (RETURN, (-3.0, -5.0, -1.0), 0.04, "does not hold"),
        (RETURN, (0.5, -0.9, 1.9), 0.5, "does not hold"),  # what matters of a return is 2
        (RETURN, (0.5, -1.1, 2.1), 0.5, "undecided"),
        (COST_RATE, (-3.0, -5.0, -1.0), 0.04, "holds"),  # of a cost, less is better
        (COST_RATE, (3.0, 1.0, 5.0), 0.04, "does not hold"),
        (COST_RATE, (0.0, -0.9, 0.9), 0.5, "does not hold"),  # and a twentieth of theirs matters
        (COST_RATE, (0.0, -1.1, 1.1), 0.5, "undecided"),
    ],
)
def test_a_verdict_is_by_rule(criterion, difference, p, verdict):
    contrast, means = Contrast("ours", "theirs", criterion), (40.0, 20.0)
    assert Finding(contrast, means, 5, 5, Interval(*difference), p, p / 4).verdict == verdict
    assert Finding(contrast, means, 4, 5, Interval(*difference), p, p / 4).verdict == "open"


@pytest.mark.parametrize(("p", "told"), [(4e-4, "< 0.001"), (6e-4, "0.001"), (0.004, "0.004")])
def test_a_p_value_is_told_to_three_decimals(runs, monkeypatch, p, told):
    one = judged(flagship(FIRST_SEEDS), runs)[0]._replace(p=p)
    monkeypatch.setattr(telling, "judged", lambda block, runs: [one])
    assert [row[5] for row in telling.verdicts(flagship(FIRST_SEEDS), runs)] == [told]


def test_e_sam_looks_as_far_as_shapo_does_on_average(runs):
    """Over the whole training, and over its seeds."""
    rng, changed, distances = np.random.default_rng(0), [], []
    for run in runs:
        far = rng.gamma(2.0, size=run.experiment.iterations)
        history = History(run.history.columns | {"gradient/distance": far})
        changed.append(replace(run, moment=history))
        if run.experiment.pessimism == RADII[0] and run.experiment.gradient == "shapo":
            distances.append(far)
    (metric,) = (block for block in blocks(changed) if block.name == "metric")
    assert metric.arms["E-SAM as far as SHAPO δ 1e-4"].rho == float(f"{np.mean(distances):.2g}")


def test_a_claim_is_judged_by_all_its_contrasts(runs):
    large, small = (
        next(
            f
            for f in judged(flagship(FIRST_SEEDS), runs)
            if (f.contrast.ours, f.contrast.criterion.quantity.name) == key
        )
        for key in (("SHAPO δ 1e-3", "return"), ("SHAPO δ 1e-4", "return"))
    )
    assert verdict_on([], 2) is None
    assert verdict_on([large, large], 2) == "holds" and verdict_on([small], 1) == "does not hold"
    assert small.difference.estimate < 0 < large.difference.estimate
    assert verdict_on([large, small], 2) == "undecided"  # half of the signs is no majority
    assert verdict_on([large, large, small], 3) == "holds partly"
    assert verdict_on([large, large], 3) == "open"  # what was planned may say otherwise
    lucky = large._replace(p=0.03, alone=0.03)
    assert lucky.verdict == "holds" and verdict_on([lucky], 1) == "holds"
    weak = large._replace(p=0.2, alone=0.1)
    assert verdict_on([lucky, weak, weak], 3) == "undecided"  # one of three is so lucky by chance


def test_a_claim_is_open_until_all_its_contrasts_are_there(runs, tmp_path):
    planned = {block.name: block for block in blocks(runs)}
    found = list(runs)
    for algo, verdict in (
        ("trpo-pid", "open: 2 of 6 comparisons"),
        ("crpo", "open: 4 of 6 comparisons"),
        ("cpo", "does not hold"),  # these synthetic ones fall alike
    ):
        folder = tmp_path / algo
        for number, experiment in enumerate(planned[f"falls {algo}"].experiments()):
            write_run(folder / str(number), experiment, seed=number)
        found += read_runs(folder).runs
        assert {row[0]: row[1] for row in telling.claims(found)}[FALLS_LESS.text] == verdict


def test_what_was_planned_counts_in_the_correction_before_it_is_run(runs):
    """Else a contrast would hold alone, and not beside its neighbours."""
    block = flagship(FIRST_SEEDS)
    alone = replace(block, contrasts=block.contrasts[1:2], asked_later=())
    (single,) = judged(alone, runs)
    some = [
        run
        for run in runs
        if run.experiment.pessimism != RADII[0] or run.experiment.gradient == "plain"
    ]
    found = {f.contrast.criterion.quantity.name: f for f in judged(block, some)}
    assert found["return"].contrast == alone.contrasts[0]
    np.testing.assert_allclose(found["return"].p, min(1, 4 * single.p))


def test_every_claim_has_a_row_and_every_row_a_contrast_of_the_plan(runs):
    tested = {contrast.claim for block in blocks(runs) for contrast in asked(block)}
    assert tested == {*CLAIMS, None}
    rows = {row[0]: row for row in telling.claims(runs)}
    assert list(rows) == [claim.text for claim in CLAIMS]
    rest = ("5 of 10", "paper, Figure 3", "figure main")
    assert (rows[EARNS.text][1], *rows[EARNS.text][3:]) == ("open", *rest)
    assert rows[UNCONSTRAINED.text][1:4] == ("not run yet", "–", "–")
    assert {claim.figure for claim in CLAIMS} <= FIGURES.keys()


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.text)
def test_a_claim_stands_where_it_says(claim):
    """In the figure that shows it, or in the one that sums up the curves that do."""
    whose, at = re.match(r"(paper|ours), (?:after )?(Figure \d+)", claim.said_by).groups()
    assert at in (FIGURES[claim.figure].item, "Figure 3")
    assert (whose == "ours") == (claim in (ACTOR, TOO_FAR)), "of these the paper says less"


def test_a_claim_names_the_figure_that_shows_what_was_compared(runs, tmp_path, monkeypatch, capsys):
    command = {row[0]: row[-1] for row in telling.claims(runs)}
    assert command[EARNS.text] == "figure main"
    assert command[FISHER.text] == "study"  # whose E-SAM has a ball of another size
    assert command[CARRIES.text] == "study", "as no figure has all four algorithms"
    assert command[SAUTE_SPARES.text] == "figure main --pessimism 1e-3"
    bases = {block.name: block for block in blocks(runs)}["bases"]
    folder = tmp_path / "runs"
    for number, experiment in enumerate(bases.experiments()):
        write_run(folder / str(number), experiment)
    monkeypatch.setattr(style, "FORMATS", ("svg",))
    words = [*command[SAUTE_SPARES.text].split(), "--runs", folder, "--out", tmp_path]
    cli.dispatch([str(word) for word in words])
    drawn = len([arm for arm in bases.arms.values() if arm.algo != "trpo-lagrangian"])
    assert f"{5 * drawn} complete" in capsys.readouterr().out
    begun = [run for run in read_runs(folder).runs if run.experiment.seed == 0]
    verdict = {row[0]: row[1] for row in telling.claims([*runs, *begun])}
    assert verdict[CARRIES.text] == "too few runs yet"


def test_a_claim_without_runs_says_how_sure_its_seeds_would_be(runs, tmp_path):
    rows = {text: (difference, verdict) for text, verdict, difference, *_ in telling.claims(runs)}
    by_arm = values(flagship(FIRST_SEEDS), runs, *SKILLS)
    spread = np.sqrt(np.mean(np.var(by_arm, axis=1, ddof=1)))
    error, freedom = spread * np.sqrt(2 / 5), 8
    one = stats.t.ppf(0.975, freedom) * error
    aside = f"set aside, see “{FISHER.instead}”"
    assert rows[FISHER.text] == (f"5 seeds would leave ± {one:.2f}", aside)
    assert telling.claims(runs[:1])[0][2] == "–"  # of one run nobody knows how it scatters
    pairs = replace(flagship(FIRST_SEEDS), comparison=in_pairs)
    assert np.isnan(foreseen(pairs, pairs.contrasts[0], runs))  # nor, of single runs, how pairs do
    assert rows[CARRIES.text] == ("–", "not run yet"), "other algorithms scatter as they will"
    block = {each.name: each for each in blocks(runs)}["bases"]
    for number, experiment in enumerate(block.experiments()[:16]):
        write_run(tmp_path / str(number), experiment, seed=number)
    some = read_runs(tmp_path).runs
    assert {run.experiment.seed for run in some} == {0, 1}
    variances = [np.var(each, ddof=1) for each in values(block, some, *block.arms)]
    reach = stats.t.ppf(0.975, 4 * freedom) * np.sqrt(np.mean(variances) * 2 / (4 * 5))
    assert foreseen(block, block.contrasts[0], [*runs, *some]) == pytest.approx(reach)
    assert telling.claims([*runs, *some])[CLAIMS.index(CARRIES)][2] == (
        f"5 seeds would leave ± {reach:.2f}"
    )


def test_a_difference_is_drawn_towards_what_is_claimed(runs):
    for found, (ours, theirs) in compared(flagship(FIRST_SEEDS), runs):
        drawn, base = effect(found), np.mean(theirs)
        matters = {"return": 2.0, "cost rate": -base / 20, "cost p95": -base / 20}
        unit = matters[found.contrast.criterion.quantity.name]
        assert drawn.estimate == pytest.approx((np.mean(ours) - base) / unit)
        assert drawn.low < drawn.estimate < drawn.high
        if found.verdict != "holds":
            assert (found.verdict == "does not hold") == (drawn.high < 1)


@pytest.mark.filterwarnings("error")  # Matplotlib's are shown to whoever draws
def test_the_forest_tells_every_comparison(runs, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(style, "FORMATS", ("png", "svg"))
    folder = runs[0].folder.parent
    cli.dispatch(["study", "--runs", str(folder), "--out", str(tmp_path)])
    assert capsys.readouterr().out.endswith(f"picture={tmp_path / 'claims.png'}\n")
    drawn = (tmp_path / "claims.svg").read_text()
    found = judged(flagship(range(10)), runs)
    assert len(found) == 6 and all(telling.difference(each) in drawn for each in found)
    assert drawn.count("SHAPO δ 1e-3 − plain") == 3 and EARNS.text[1:] in drawn
    write_archive(runs[:1], tmp_path / "few.runs.gz")
    cli.dispatch(["study", "--runs", str(tmp_path / "few.runs.gz"), "--out", str(tmp_path / "no")])
    assert "nothing to draw yet" in capsys.readouterr().out and not (tmp_path / "no").exists()


def test_together_is_more_than_each_of_the_two_parts(runs):
    (parts,) = (block for block in blocks(runs) if block.name == "bases parts")
    compared = {(contrast.ours, contrast.theirs): contrast.claim for contrast in parts.contrasts}
    assert compared == {
        ("actor alone", "plain"): ACTOR,
        ("SAM critics alone", "plain"): CRITICS,
        ("SHAPO δ 1e-3", "actor alone"): TOGETHER,
        ("SHAPO δ 1e-3", "SAM critics alone"): TOGETHER,
    }
    rules = {
        name.partition(" ")[2]: (arm.gradient, arm.critic_gradient)
        for name, arm in parts.arms.items()
    }
    assert rules == {
        "plain": ("plain", "plain"),
        "actor alone": ("shapo", "plain"),
        "SAM critics alone": ("plain", "sam"),
        "SHAPO δ 1e-3": ("shapo", "sam"),
    }
    (alone,) = (block for block in blocks(runs) if block.name == "bases")
    assert {*alone.experiments()} < {*parts.experiments()}  # so that those are not run again


def test_the_effort_is_that_of_the_plans_finished_runs(runs, tmp_path):
    other = write_run(tmp_path / "other", runs[0].experiment.replace(algo="ppo"), seed=1)
    hours = sum(run.history.last("time/seconds") for run in runs) / 3600
    expected = f"15 of 290 runs, 150M steps in {hours:.1f} hours, added up over runs"
    assert telling.effort([*runs, *runs[:2], *read_runs(other).runs]) == expected


def test_only_what_was_begun_is_told(runs):
    assert judging.begun([]) == []
    (block,) = judging.begun(runs)
    assert (block.name, block.seeds) == ("flagship", range(10))


def test_holm():
    p = [0.01, 0.04, 0.03, 0.005]
    np.testing.assert_allclose(holm(p), [0.03, 0.06, 0.06, 0.02])
    assert holm([]) == []
    rng = np.random.default_rng(0)
    many = rng.uniform(size=20)
    # Never less strict than Benjamini and Hochberg, never stricter than Bonferroni.
    assert (np.array(holm(many)) >= stats.false_discovery_control(many) - 1e-12).all()
    assert (np.array(holm(many)) <= np.minimum(1, 20 * many) + 1e-12).all()


def test_where_there_is_nothing_it_says_how_to_begin(tmp_path, capsys):
    with pytest.raises(SystemExit):
        cli.main(["study", "--runs", str(tmp_path / "nowhere")])
    assert "no such folder; --run trains the study into it" in capsys.readouterr().err
