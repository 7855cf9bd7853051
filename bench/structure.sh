#!/bin/sh
# What the choice of edges does to a graph: isolated nodes, components and spread of the degrees over 40 draws, for scores,
# directions and strata, as a Markdown table. Usage: bench/structure.sh [DATA] [P ...]   (cora, 0.3 and 0.6)
# The program is $SAPWOOD, by default the release build. Seconds, one core; the numbers do not depend on the machine.
set -eu
cd "$(dirname "$0")/.."
exec python3 - "${SAPWOOD:-target/release/sapwood}" "$@" <<'PY'
import json
import math
import subprocess
import sys

program, data, rates = sys.argv[1], (sys.argv[2:] or ["cora"])[0], sys.argv[3:] or ["0.3", "0.6"]
draws = 40
rows = [
    ("uniform, none", "--beta 0 --stratify none"),
    ("uniform, node", "--beta 0 --stratify node"),
    ("`pr_mean` keep β=2", "--score pr_mean --stratify none"),
    ("`pr_mean` drop β=2", "--score pr_mean --direction drop --stratify none"),
    ("`two_stage` keep β=2", "--score two_stage --stratify none"),
    ("`two_stage` keep β=2, node", "--score two_stage --stratify node"),
    ("`two_stage` drop β=2", "--score two_stage --direction drop --stratify none"),
    ("`flow` keep β=2", "--score flow --stratify none"),
    ("`inv_degree` keep β=2", "--score inv_degree --stratify none"),
    ("`inv_degree` keep β=4", "--score inv_degree --beta 4 --stratify none"),
    ("`inv_degree` keep β=4, node", "--score inv_degree --beta 4 --stratify node"),
]


def spread(values):
    mean = sum(values) / len(values)
    return f"{mean:.0f} ± {math.sqrt(sum((v - mean) ** 2 for v in values) / (len(values) - 1)):.0f}"


def cells(flags, p):
    command = [program, "drop", data, "--p", p, "--draws", str(draws), "--json", "-q", *flags.split()]
    found = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    counts = [spread([draw[key] for draw in found["draws"]]) for key in ("isolated", "components")]
    return [f"{found['isolated_expected']:.1f}", *counts, f"{found['degree_sd']:.3f}"]


head = [cell for p in rates for cell in (f"p = {p}: isolated expected", "isolated", "components", "degree sd")]
print(f"| {data}, {draws} draws | {' | '.join(head)} |")
print("|---" * (len(head) + 1) + "|")
for name, flags in rows:
    print(f"| {name} | {' | '.join(cell for p in rates for cell in cells(flags, p))} |")
PY
