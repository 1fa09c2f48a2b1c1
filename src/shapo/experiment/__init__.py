"""What a training is: its choices, what each may be, and what was published for it.

Free of JAX and of every environment, so that a command line, a sweep or a report can read it in no time.
"""

from shapo.experiment.experiment import Algo, Experiment, GradientRule

__all__ = ["Algo", "Experiment", "GradientRule"]
