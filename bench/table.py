"""Puts the ratios of benchmark runs into a Markdown page: table.py PAGE RUN.json...

A run is the output of `sapwood bench TOOL --json`. The text between `<!-- bench:TOOL -->` and `<!-- /bench:TOOL -->`
is replaced by a table made from all runs of TOOL. Seconds of runs are left out: they say more about the machine than about us.
"""

import json
import math
import re
import sys
from pathlib import Path

OURS = "sapwood"


def heading(runs, versions):
    """Lines of Markdown: on what, and who took part."""
    host = runs[0]["measured"]["host"]
    loads = ", ".join(f"{run['measured']['host']['load1']}" for run in runs)
    yield f"{host['cpu'] or 'unknown processor'}, {host['cores']} processors, **shared with other work** (load average at the start of each run: {loads})."
    yield "Versions: " + ", ".join(f"{name} {version}" for name, version in versions.items()) + "."
    yield ""


def table(runs):
    """Lines of Markdown: what was compared, then a row per case and thread count, a column per other system."""
    versions = {s["name"]: s["version"] for run in runs for s in run["systems"]}
    others = [name for name in versions if name != OURS]
    yield from heading(runs, versions)
    yield "| case | nodes | threads | " + " | ".join(others) + " |"
    yield "|---|---|---|" + "---|" * len(others)
    for key, rows in cases(runs):
        cells = [cell(rows.get(name), rows.get(OURS)) for name in others]
        yield f"| {key[0]} | {key[1]} | {key[2]} | " + " | ".join(cells) + " |"
    for threads in dict.fromkeys(key[2] for key, _ in cases(runs)):
        means = [mean(runs, name, threads) for name in others]
        yield f"| **geometric mean** | | {threads} | " + " | ".join(means) + " |"


def targets(runs):
    """Lines of Markdown for `sapwood bench plan`: how many times as good as its target each measure is."""
    yield from heading(runs, {s["name"]: s["version"] for run in runs for s in run["systems"]})
    yield "| measure | threads | target | times as good | |"
    yield "|---|---|---|---|---|"
    for row in (row for run in runs for row in run["measured"]["rows"] if row["target"] is not None):
        verdict = "**other result**" if not row["ok"] else "met" if row["share"] >= 1 else "**missed**"
        yield f"| {row['measure']} | {row['threads']} | {amount(row)} | {row['share']:.2f} | {verdict} |"


def amount(row):
    """The target of a measure with its unit."""
    sign = "≤" if row["unit"] in ("s", "B") else "≥"
    value, unit = row["target"], row["unit"]
    scales = {"s": [(1, "s"), (1e-3, "ms")], "B": [(1e6, "MB")], "/s": [(1e6, " million/s")], "×": [(1, "×")]}[unit]
    scale, name = next(((scale, name) for scale, name in scales if value >= 0.1 * scale), scales[-1])
    return f"{sign} {value / scale:g}{'' if name[0] in ' ×' else ' '}{name}"


def cases(runs):
    """((case, nodes, threads of the run), {system: row}) in the order of the runs."""
    found = {}
    for run in runs:
        rows = run["measured"]["rows"]
        for row in rows:
            ours = next(r for r in rows if r["case"] == row["case"] and r["system"] == OURS)
            key = row["case"], row["n"], ours["threads"]
            found.setdefault(key, {})[row["system"]] = row
    return sorted(found.items(), key=lambda item: (list(dict.fromkeys(k[0] for k in found)).index(item[0][0]), item[0][2]))


def cell(row, ours):
    """Wall-time ratio, CPU-time ratio behind it."""
    if row is None:
        return "–"
    text = f"{row['ratio_to_sapwood']:.2f}× ({row['min_cpu_s'] / ours['min_cpu_s']:.2f}×)"
    if row["threads"] != ours["threads"]:
        text += f" on {row['threads']}"
    return text if row["ok"] else text + " **other result**"


def mean(runs, name, threads):
    """Geometric mean of the wall-time ratios of a system over all cases of a thread count."""
    ratios = [rows[name]["ratio_to_sapwood"] for key, rows in cases(runs) if key[2] == threads and name in rows]
    return f"**{math.prod(ratios) ** (1 / len(ratios)):.2f}×**" if ratios else "–"


def main():
    page, runs = Path(sys.argv[1]), [json.loads(Path(p).read_text()) for p in sys.argv[2:]]
    text = page.read_text()
    for tool in dict.fromkeys(run["tool"] for run in runs):
        begin, end = f"<!-- bench:{tool} -->", f"<!-- /bench:{tool} -->"
        own = [run for run in runs if run["tool"] == tool]
        lines = "\n".join((targets if tool == "plan" else table)(own))
        pattern = re.compile(f"{re.escape(begin)}.*?{re.escape(end)}", re.S)
        if not pattern.search(text):
            sys.exit(f"{page}: no {begin} … {end}")
        text = pattern.sub(lambda _: f"{begin}\n{lines}\n{end}", text)
    page.write_text(text)


if __name__ == "__main__":
    main()
