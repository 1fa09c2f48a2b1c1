"""Every figure and table of the paper, by name."""

from shapo.experiments.figures import (
    actor_critic,
    cost_tails,
    dual_fisher,
    fisher_euclidean,
    fronts,
    gaussian_gradients,
    learning_curves,
    main_results,
    runtime,
    schedule_curves,
    schedules,
    sensitivity,
    unconstrained,
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
        fisher_euclidean.FIGURE,
        actor_critic.FIGURE,
        schedules.MAIN,
        sensitivity.FIGURE,
        schedule_curves.FIGURE,
        fronts.SCHEDULES,
        schedules.SINGLE,
        unconstrained.FIGURE,
        *learning_curves.FIGURES,
        runtime.FIGURE,
    )
}
"""In the paper's order."""
