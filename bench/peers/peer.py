"""How `sapwood bench` talks to a peer program.

A peer is a child process that stays alive for a whole benchmark, so that the harness can take turns:
one repetition of Sapwood, one of each peer, again and again, all under the same load of the machine.

    peer -> harness   {"ready": true, "system": "scipy", "version": "1.17.1", ...}     once, after loading
    harness -> peer   run CASE TIMES      time CASE, TIMES iterations in a row
    peer -> harness   {"wall_s": per iteration, "cpu_s": per iteration}
    harness -> peer   check CASE          numbers by which the two results are compared
    peer -> harness   {"values": [...]}
    harness -> peer   quit                (or end of input)

Every answer is one line of JSON; a failed command answers {"error": "..."} and the peer goes on.
The answers go to the real stdout; whatever a library prints goes to stderr.
"""

import json
import os
import sys
import time


def serve(hello, run, check):
    """Answers commands until end of input. `run(case)` does one iteration; `check(case)` returns a list of floats."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)

    def answer(what):
        answers.write(json.dumps(what) + "\n")

    answer({"ready": True, **hello})
    for line in sys.stdin:
        words = line.split()
        if not words:
            continue
        try:
            if words[0] == "quit":
                return
            elif words[0] == "run":
                answer(timed(run, words[1], int(words[2])))
            elif words[0] == "check":
                answer({"values": [float(v) for v in check(words[1])]})
            else:
                answer({"error": f"unknown command {words[0]!r}"})
        except Exception as problem:  # the harness prints it beside the case
            answer({"error": f"{type(problem).__name__}: {problem}"})


def timed(run, case, times):
    """Wall and process CPU seconds of one of `times` iterations of `run(case)`."""
    wall, cpu = time.perf_counter(), time.process_time()
    for _ in range(times):
        run(case)
    return {
        "wall_s": (time.perf_counter() - wall) / times,
        "cpu_s": (time.process_time() - cpu) / times,
    }
