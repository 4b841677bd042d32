"""The long run: `python -m tests.torture --kills 200 --power-cuts 1000`."""

import argparse
import json
import secrets
import sys
import time

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from tests.torture.kill import KillReport, run_kills
from tests.torture.power_cut import CutReport, run_power_cuts

FAULTS_SHOWN = 20


def main() -> int:
    """Torture the archive as asked; return 1 if anything was lost."""
    given = _parse_arguments()
    began = time.monotonic()
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        disable=given.json,
    ) as progress:
        kill_task = progress.add_task("kill -9", total=given.kills)
        cut_task = progress.add_task("power cuts", total=given.power_cuts)
        kills = run_kills(given.kills, seed=given.seed, on_kill=lambda: progress.advance(kill_task))
        cuts = run_power_cuts(
            given.power_cuts, seed=given.seed, on_cut=lambda: progress.advance(cut_task)
        )
    seconds = time.monotonic() - began
    report = _print_json if given.json else _print_verdict
    report(kills, cuts, seed=given.seed, seconds=seconds)
    return 1 if kills.faults or cuts.faults else 0


def _parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.torture", description="Kill the archive and see what it remembers."
    )
    parser.add_argument("--kills", type=int, default=200, metavar="N")
    parser.add_argument("--power-cuts", type=int, default=1000, metavar="N")
    parser.add_argument(
        "--seed", type=int, default=secrets.randbelow(1_000_000), help="what a failed run printed"
    )
    parser.add_argument("--json", action="store_true", help="print the outcome as JSON")
    return parser.parse_args()


def _print_json(kills: KillReport, cuts: CutReport, *, seed: int, seconds: float) -> None:
    outcome = {
        "seed": seed,
        "kills": kills.kills,
        "power_cuts": cuts.cuts,
        "acknowledged_under_kills": kills.acknowledged,
        "acknowledged_under_power_cuts": cuts.acknowledged,
        "power_cut_during": dict(cuts.moments.most_common()),
        "faults": [*kills.faults, *cuts.faults],
        "seconds": round(seconds, 1),
    }
    print(json.dumps(outcome, indent=2))


def _print_verdict(kills: KillReport, cuts: CutReport, *, seed: int, seconds: float) -> None:
    faults = [*kills.faults, *cuts.faults]
    for fault in faults[:FAULTS_SHOWN]:
        print(f"- {fault}")
    verdict = "nothing lost" if not faults else f"{len(faults):,} FAULTS"
    print(
        f"{verdict}: {kills.kills:,} kills ({kills.acknowledged:,} acknowledged writes), "
        f"{cuts.cuts:,} power cuts ({cuts.acknowledged:,} acknowledged writes), "
        f"seed {seed}, {seconds:.0f} s"
    )


if __name__ == "__main__":
    sys.exit(main())
