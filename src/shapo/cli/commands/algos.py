"""`shapo algos`: how to learn."""

import argparse
import json

from shapo.cli.parsing import Parser

EXAMPLES = """\
Every algorithm works with every gradient rule: shapo train --algo cpo --gradient shapo
Either may be your own, written module:factory: shapo train --gradient "my_rules:LookAhead(radius=1e-4)"
"""
ALGORITHMS = {
    "trpo": "trust region policy optimisation; ignores cost",
    "trpo-lagrangian": "TRPO with a Lagrange multiplier that climbs while cost exceeds its limit",
    "trpo-pid": "TRPO with a multiplier steered by a PID controller: the paper's main base",
    "crpo": "TRPO on reward, or on cost in iterations that exceed the limit",
    "cpo": "constrained policy optimisation: the best step that keeps the cost within its limit",
    "cpo-as-released": "CPO with the flaws of the published code, to reproduce published numbers",
    "saute": "TRPO that sees what is left of its safety budget and earns nothing once it is spent",
    "ppo-saute": "the same with PPO",
    "ppo": "proximal policy optimisation; ignores cost",
    "ppo-lagrangian": "PPO with a Lagrange multiplier",
}
GRADIENTS = {
    "plain": "the slope here: the algorithm as published",
    "sam": "the slope at the worst parameters nearby (E-SAM)",
    "shapo": "the slope at the worst policy nearby: pessimism where the policy has seen little",
}


def describe(parser: Parser) -> None:
    """Declare the options."""
    parser.add_argument("--json", action="store_true", default=False, help="print one JSON object")


def run(options: argparse.Namespace) -> None:
    """Print both lists."""
    lists = {"algo": ALGORITHMS, "gradient": GRADIENTS}
    if options.json:
        print(json.dumps(lists))
        return
    for title, names in lists.items():
        print(f"--{title}")
        for name, about in names.items():
            print(f"  {name:<16} {about}")
