#!/usr/bin/env bash
# Measures Sapwood beside its peers and refreshes the tables in docs/benchmarks.md.
#
#   bench/run.sh [sparse] [train] [graph] [plan] [targets]      default: all
#
# targets: what has a target but no peer, the default job (minutes) and the memory of 64 layers
#
# plan: the planner by its targets, on all processors, to docs/plan.md; its peer is a program in C (needs cc)
#
# REPS      rounds per case                          (default 9)
# THREADS   list of thread counts, one run for each  (default "1 N", N = processors)
# PEERS     none = do not install or run any peer    (default: all that can be installed; torch is several GB)
# SAPWOOD_DATA     folder with cora/ and snap/ for the cases on them; without it only the data of the repository
# SAPWOOD_PYTHON   a Python that has bench/peers/requirements.txt, instead of .venv
#
# The measurements go to target/bench/TOOL-THREADS.json, the ratios (and only ratios) to docs/benchmarks.md.
set -euo pipefail
cd "$(dirname "$0")/.."

reps=${REPS:-9}
processors=$(getconf _NPROCESSORS_ONLN)
threads=${THREADS:-1$([ "$processors" -gt 1 ] && echo " $processors")}
tools=("$@")
[ ${#tools[@]} -gt 0 ] || tools=(sparse train graph plan targets)

# The peers' Python, where one of the tools has any. A package that cannot be installed costs only the peers that need it.
if [[ " ${tools[*]} " =~ \ (sparse|train|graph)\  ]] && [ "${PEERS:-}" != none ] && [ -z "${SAPWOOD_PYTHON:-}" ]; then
    if [ -x .venv/bin/python ] || python3 -m venv .venv; then
        grep -v '^#' bench/peers/requirements.txt | while read -r package; do
            .venv/bin/pip install --quiet --disable-pip-version-check "$package" || echo "bench: without $package" >&2
        done
    else
        echo "bench: no virtual environment (Debian: apt install python3-venv); peers are skipped" >&2
    fi
fi

peers() {
    case "${PEERS:-}:$1" in
        none:*) echo none ;;
        *:sparse) echo scipy,scipy-inplace,torch ;;
        *:train) echo scipy,pyg,torch ;;
        *:graph) echo networkx,igraph,scipy,pyg ;;
        *:plan) echo c-twin ;;
    esac
}

cargo build --release --locked --package sapwood
sapwood=${CARGO_TARGET_DIR:-target}/release/sapwood # where cargo puts it
mkdir -p target/bench
tables=()
for tool in "${tools[@]}"; do
    if [ "$tool" = targets ]; then
        echo "bench: targets, $processors threads" >&2
        python3 bench/targets.py "$sapwood" docs/benchmarks.md --threads "$processors"
        continue
    fi
    if [ "$tool" = plan ]; then
        echo "bench: plan, $processors threads" >&2
        "$sapwood" bench plan --json --threads "$processors" --reps "$reps" --peers "$(peers plan)" \
            > target/bench/plan.json || [ $? -eq 1 ]
        python3 bench/table.py docs/plan.md target/bench/plan.json
        continue
    fi
    rm -f "target/bench/$tool-"*.json # an earlier run may have had other threads or versions
    for count in $threads; do
        echo "bench: $tool, $count threads, $reps rounds" >&2
        # exit code 1 = a peer's result differs from ours: the table shows it
        "$sapwood" bench "$tool" --json --threads "$count" --reps "$reps" --peers "$(peers "$tool")" \
            > "target/bench/$tool-$count.json" || [ $? -eq 1 ]
        tables+=("target/bench/$tool-$count.json")
    done
done
[ ${#tables[@]} -eq 0 ] || python3 bench/table.py docs/benchmarks.md "${tables[@]}"
