"""`shapo algos`: how to learn."""

import argparse
import json

from shapo.cli.parsing import Parser
from shapo.cli.printing import print_columns

EXAMPLES = """\
examples:
  shapo train --algo cpo --gradient shapo
      Every algorithm works with every gradient rule.
  shapo train --gradient "my_rules:LookAhead(radius=1e-4)"
      Either may be your own, written module:factory.
"""
ALGORITHMS = {
    "trpo": "trust region policy optimisation; ignores cost",
    "trpo-lagrangian": "TRPO with a Lagrange multiplier that climbs while cost exceeds its limit",
    "trpo-pid": "TRPO with a multiplier steered by a PID controller: the paper's main base",
    "crpo": "TRPO on reward, or on cost in iterations that exceed the limit",
    "cpo": "constrained policy optimisation: the best step that keeps the cost within its limit",
    "cpo-as-released": "CPO with the flaws of the published code, to reproduce published numbers",
    "pcpo": "a TRPO step, then the shortest way back to where the cost is within its limit",
    "npg": "natural policy gradient: TRPO without its line search; ignores cost",
    "rcpo": "the natural policy gradient with a Lagrange multiplier",
    "saute": "TRPO that sees what is left of its safety budget and earns nothing once it is spent",
    "simmer": "the same with a budget that begins small and grows as it is kept",
    "ppo": "proximal policy optimisation; ignores cost",
    "ppo-lagrangian": "PPO with a Lagrange multiplier",
    "ppo-pid": "PPO with a multiplier steered by a PID controller (CPPO-PID)",
    "ppo-saute": "saute with PPO",
    "ipo": "PPO with a logarithmic barrier before the limit",
    "p3o": "PPO with an exact penalty on expected cost above the limit",
    "focops": "imitates the best policy nearby, which has a closed form",
    "cup": "PPO on reward, then back to the nearest policy that does not cost too much",
}
COMPOSITIONS = {
    "trpo": ("RewardOnly", "TrustRegion"),
    "trpo-lagrangian": ("Lagrangian(Ascent)", "TrustRegion"),
    "trpo-pid": ("Lagrangian(Pid)", "TrustRegion"),
    "crpo": ("Switching", "TrustRegion"),
    "cpo": ("reward, subject to cost", "its own"),
    "cpo-as-released": ("reward, subject to cost", "its own"),
    "pcpo": ("RewardOnly", "Projected"),
    "npg": ("RewardOnly", "TrustRegion(Unsearched)"),
    "rcpo": ("Lagrangian(Ascent)", "TrustRegion(Unsearched)"),
    "saute": ("RewardOnly", "TrustRegion", "Budget"),
    "simmer": ("RewardOnly", "TrustRegion", "SimmeringBudget"),
    "ppo": ("RewardOnly", "Epochs(Clipped)"),
    "ppo-lagrangian": ("Lagrangian(Ascent)", "Epochs(Clipped)"),
    "ppo-pid": ("Lagrangian(Pid)", "Epochs(Clipped)"),
    "ppo-saute": ("RewardOnly", "Epochs(Clipped)", "Budget"),
    "ipo": ("Lagrangian(Barrier)", "Epochs(Clipped)"),
    "p3o": ("RewardOnly", "Epochs(Penalised)"),
    "focops": ("Unscaled(Lagrangian(Bounded))", "Epochs(FirstOrder)"),
    "cup": ("RewardOnly", "Corrected(Epochs(Clipped), Epochs(Anchored))"),
}
"""Objective, step and, where the environment is changed first, wrapper."""
GRADIENTS = {
    "plain": "the slope here: the algorithm as published",
    "sam": "the slope at the worst parameters nearby (E-SAM)",
    "shapo": "the slope at the worst policy nearby: pessimism where the policy has seen little",
}


def describe(parser: Parser) -> None:
    """Declare the options."""
    parser.add_argument("--json", action="store_true", default=False, help="print one JSON object")


def run(options: argparse.Namespace) -> None:
    """Print all lists."""
    lists = {"algo": ALGORITHMS, "gradient": GRADIENTS}
    if options.json:
        print(json.dumps(lists))
        return
    for title, names in lists.items():
        print(f"--{title}")
        print_columns([(f"  {name}", about) for name, about in names.items()])
    print("what an algorithm is made of: objective · step · wrapper")
    print_columns([(f"  {name}", " · ".join(parts)) for name, parts in COMPOSITIONS.items()])
