"""`shapo export`: a trained policy for use elsewhere."""

import argparse
from pathlib import Path

from shapo.cli.parsing import Parser, file_named

EXAMPLES = """\
examples:
  shapo export runs/ant
      The policy as runs/ant/policy.onnx.
  shapo export runs/ant --out robot/ant.onnx
      Somewhere else.

Raw observations go in, the environment's mean actions come out: normalisation and action scale are inside.
"""


def describe(parser: Parser) -> None:
    """Declare the options."""
    parser.add_argument("run", type=Path, metavar="RUN", help="the run's folder, or a policy file")
    parser.add_argument(
        "--out", type=file_named("an exported policy", ".onnx"),
        help="the file to write, .onnx [policy.onnx beside the policy]",
    )  # fmt: skip


def run(options: argparse.Namespace) -> None:
    """Convert and save."""
    from shapo.runs.absent import is_run
    from shapo.runs.exports import to_onnx
    from shapo.runs.files import write_atomically
    from shapo.runs.folder import Run
    from shapo.runs.policies import load

    # A run knows whether the policy is its own.
    policy = Run.open(options.run).policy if is_run(options.run) else load(options.run)
    beside = options.run if options.run.is_dir() else options.run.parent
    out = options.out if "out" in options else beside / "policy.onnx"
    write_atomically(out, to_onnx(policy).SerializeToString(deterministic=True))
    print(f"policy={out}")
