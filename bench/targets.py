"""Measures what has a target but no peer, and puts it into a Markdown page as a share of the target.

    targets.py SAPWOOD PAGE [--threads N] [--reps 3] [job] [memory]      default: both

job      wall time of the default job, `sapwood train` without arguments, by seven minutes. Once: it is long.
memory   64 layers on Cora with `--recompute full` by the same with `none`: arena, whole process, time of an epoch (medians
         over the rounds, the two in turns). Needs cora/ in $SAPWOOD_DATA or ./data.

The runs are processes of their own, so that the largest resident size is theirs. The text between `<!-- bench:targets -->`
and `<!-- /bench:targets -->` is replaced; seconds and bytes go to stdout only. Exit code 1: the two ways of computing
differ in their weights.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
from pathlib import Path

JOB_TARGET_S = 420
DEEP = "cora --split full --model jknet --layers 64 --hidden 128 --sampler none --seeds 1 --epochs 4".split()


def train(options, arguments):
    """The JSON object of one run of `sapwood train`; None where it cannot run."""
    command = [options.sapwood, "train", *arguments, "--json", "-q", "--threads", str(options.threads)]
    ran = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    return json.loads(ran.stdout) if ran.returncode == 0 else None


def load():
    return f"{os.getloadavg()[0]:.2f}"


def job(options):
    """Row of the default job."""
    before, found = load(), train(options, [])
    if found is None:
        sys.exit("targets: the default job failed")
    took, runs = found["measured"]["total_s"], len(found["runs"])
    share = took / JOB_TARGET_S
    print(f"default job: {runs} runs in {took:.0f} s, {share:.2f} of {JOB_TARGET_S} s, load {before} at the start")
    yield f"default job, {runs} runs: wall time by seven minutes", options.threads, share, None, "≤ 1", before


def memory(options):
    """Rows of what computing activations again saves and costs."""
    before, rounds = load(), []
    for _ in range(options.reps):
        pair = [train(options, [*DEEP, "--recompute", way]) for way in ("full", "none")]
        if None in pair:
            print("targets: memory skipped, no Cora", file=sys.stderr)
            return
        if pair[0]["runs"][0]["fingerprint"] != pair[1]["runs"][0]["fingerprint"]:
            sys.exit("targets: --recompute full gives other weights than none")
        rounds.append([found["measured"] for found in pair])
    kinds = [
        ("arena at its highest", lambda m: m["arena_high_water_bytes"], "≤ 0.5"),
        ("largest resident size of the process", lambda m: m["peak_rss_bytes"], "–"),
        ("time of an epoch", lambda m: m["runs"][0]["epoch_s"], "–"),
    ]
    for what, value, target in kinds:
        values = [[value(m) for m in pair] for pair in rounds]
        if None in [v for pair in values for v in pair]:
            continue
        ratios = [full / none for full, none in values]
        medians = [statistics.median(column) for column in zip(*values)]
        print(f"{what}: full {medians[0]:.6g}, none {medians[1]:.6g}, ratio {statistics.median(ratios):.3f}")
        label = f"Cora, jknet 64×128, `--recompute full` by `none`: {what}"
        yield label, options.threads, statistics.median(ratios), max(ratios) - min(ratios), target, before


WORK = {"job": job, "memory": memory}


def table(rows):
    """Lines of Markdown."""
    yield "| measured | threads | share | spread | target | load at the start |"
    yield "|---|---|---|---|---|---|"
    for what, threads, share, spread, target, before in rows:
        spread = "–" if spread is None else f"{spread:.2f}"
        yield f"| {what} | {threads} | **{share:.2f}×** | {spread} | {target} | {before} |"


def main():
    args = argparse.ArgumentParser()
    args.add_argument("sapwood", help="the program")
    args.add_argument("page", type=Path, help="Markdown page")
    args.add_argument("work", nargs="*", help="what to measure: job, memory; default: both")
    args.add_argument("--threads", type=int, default=os.cpu_count())
    args.add_argument("--reps", type=int, default=3)
    options = args.parse_args()
    if unknown := set(options.work) - set(WORK):
        sys.exit(f"{', '.join(sorted(unknown))}: no such measurement; one of {', '.join(WORK)}")
    begin, end = "<!-- bench:targets -->", "<!-- /bench:targets -->"
    pattern = re.compile(f"{re.escape(begin)}.*?{re.escape(end)}", re.S)
    if not pattern.search(options.page.read_text()):
        sys.exit(f"{options.page}: no {begin} … {end}")
    rows = [row for name in options.work or WORK for row in WORK[name](options)]
    lines = "\n".join(table(rows))
    # Read again: the measurement took minutes.
    text = pattern.sub(lambda _: f"{begin}\n{lines}\n{end}", options.page.read_text())
    options.page.write_text(text)


if __name__ == "__main__":
    main()
