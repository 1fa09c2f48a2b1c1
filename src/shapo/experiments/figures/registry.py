"""Every figure and table of the paper, by name."""

from shapo.experiments.figures import (
    cost_tails,
    dual_fisher,
    fronts,
    gaussian_gradients,
    gradient_rules,
    learning_curves,
    main_results,
    runtime,
    schedule_curves,
    schedules,
    sensitivity,
    unconstrained,
    value_pessimism,
)
from shapo.experiments.figures.figure import Figure

FIGURES: dict[str, Figure] = {
    figure.name: figure
    for figure in (
        dual_fisher.FIGURE,
        gaussian_gradients.FIGURE,
        main_results.FIGURE,
        fronts.LAMBDA,
        cost_tails.FIGURE,
        gradient_rules.FISHER_EUCLIDEAN,
        gradient_rules.ACTOR_CRITIC,
        schedules.MAIN,
        sensitivity.FIGURE,
        schedule_curves.FIGURE,
        fronts.SCHEDULES,
        schedules.SINGLE,
        unconstrained.FIGURE,
        *learning_curves.FIGURES,
        runtime.FIGURE,
        value_pessimism.FIGURE,
    )
}
"""In the paper's order."""
