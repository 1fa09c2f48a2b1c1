"""`shapo archive`: many runs in one small file."""

import argparse
from pathlib import Path

from shapo.cli.parsing import Parser
from shapo.cli.printing import print_skipped
from shapo.words import BadInput, counted

EXAMPLES = """\
examples:
  shapo archive runs/study --out study.runs.gz
      Every finished run below runs/study: its config and a hundred rows each, a few kB per run.
  shapo archive study.runs.gz runs/more --out study.runs.gz
      The same file with more runs in it.
  shapo figure main --runs .
      A folder that holds an archive is as good as a folder of runs, for lists, figures, comparisons and reports.
"""


def describe(parser: Parser) -> None:
    """Declare the options."""
    parser.add_argument(
        "runs", nargs="+", type=Path, metavar="RUNS", help="run folders, folders of runs, archives"
    )
    parser.add_argument("-o", "--out", type=Path, required=True, help="the archive, NAME.runs.gz")


def run(options: argparse.Namespace) -> None:
    """Pack what is finished, and name what is not."""
    from shapo.runs.archives import write_archive
    from shapo.runs.reading import Skipped, read_runs

    found = read_runs(*options.runs)
    finished = [each for each in found.runs if each.finished]
    unfinished = [Skipped(each.folder, "unfinished") for each in found.runs if each not in finished]
    print_skipped([*found.skipped, *unfinished])
    if not finished:
        raise BadInput(f"{', '.join(map(str, options.runs))}: no finished run in there")
    held = write_archive(finished, options.out)
    print(f"{counted(held, 'run')} in {options.out} ({options.out.stat().st_size / 1000:.0f} kB)")
