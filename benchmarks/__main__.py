"""python -m benchmarks [--quick] [--work DIR] [NAME …]: prints the table."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

from benchmarks import floors
from benchmarks.benches import BENCHES, FULL, QUICK, Workshop
from benchmarks.measure import Figure


def main() -> int:
    """Runs the chosen benches. 0, or with ``--strict`` 1 if a figure is over its limit."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Speed and size, as ratios to floors.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of: {', '.join(BENCHES)}; none: all")
    parser.add_argument("--quick", action="store_true", help="small inputs: a minute instead of ten")
    parser.add_argument("--work", type=Path, help="folder for inputs and stores, kept for the next run")
    parser.add_argument("--strict", action="store_true", help="exit 1 if a figure is over its limit")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in BENCHES]
    if unknown:
        parser.error(f"no such bench: {', '.join(unknown)}; there are: {', '.join(BENCHES)}")
    if not floors.stand():
        print(f"{floors.FLOORS} is not here: times are printed as they are, not as ratios.", file=sys.stderr)
    if options.quick:
        print("small inputs: starting up weighs in every ratio; only the full run tells.", file=sys.stderr)
    with tempfile.TemporaryDirectory(prefix="affidavit-bench-") as made:
        folder = options.work or Path(made)
        folder.mkdir(parents=True, exist_ok=True)
        figures = run(Workshop(folder, QUICK if options.quick else FULL), options.names or list(BENCHES))
    if options.json:
        options.json.write_text(json.dumps([asdict(figure) for figure in figures], indent=2) + "\n")
    return 1 if options.strict and any(figure.standing == "over" for figure in figures) else 0


def run(shop: Workshop, names: list[str]) -> list[Figure]:
    """Runs the benches one after the other and prints each row as soon as it is known."""
    figures = []
    print(f"{'':<46}{'measured':>12}{'limit':>10}{'aim':>8}  {'':<5} floor, time")
    for name in names:
        for figure in BENCHES[name](shop):
            figures.append(figure)
            print(line(figure), flush=True)
    return figures


def line(figure: Figure) -> str:
    """One row of the table."""

    def number(value: float | None) -> str:
        return "" if value is None else f"{value:,.0f}" if value >= 100 else f"{value:.3g}"

    floor = f"{figure.floor:.3f} s" if figure.floor else ""
    said = ", ".join(part for part in (floor, figure.note) if part)
    value = f"{number(figure.value)} {figure.unit}"
    return f"{figure.name:<46}{value:>12}{number(figure.limit):>10}{number(figure.aim):>8}  {figure.standing:<5} {said}"


if __name__ == "__main__":
    sys.exit(main())
