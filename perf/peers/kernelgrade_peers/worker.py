# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
"""One process that measures rows, as `kernelgrade run --batch FILE --journal FILE` is one.

Each row begins with a line of the journal and ends with one, so that whoever reads it knows which row ended
the process. What fails is a row that says so.
"""

import argparse
import copy
import ctypes
import gc
import json
import os
import random
import signal
import statistics
from pathlib import Path
from time import perf_counter_ns, process_time_ns
from typing import Any, TextIO

from kernelgrade_peers import registry
from kernelgrade_peers.case import Case, read_cases
from kernelgrade_peers.registry import Unsupported
from kernelgrade_peers.sampling import take_samples

PR_SET_PDEATHSIG = 1
# For a CPU with other load: measures this process' CPU time instead of the caller's wall time.
CPU_TIME = os.environ.get("KERNELGRADE_CLOCK") == "cpu"


def measure(case: Case, variant: str, row: dict[str, Any]) -> None:
    start = perf_counter_ns()
    solver = registry.prepare(case, variant)
    row["setup_ns"] = perf_counter_ns() - start
    start = perf_counter_ns()
    result = solver.run()
    solver.wait(result)
    row["first_call_ns"] = perf_counter_ns() - start
    row["jit_ns"] = solver.compile_ns
    case.write(variant, f"{os.getpid()}.first", solver.read(result))
    del result  # keeps no more memory than a run needs
    samples, batch = take_samples(solver.run, solver.wait, process_time_ns if CPU_TIME else perf_counter_ns)
    solver.restore()
    result = solver.run()
    solver.wait(result)
    case.write(variant, f"{os.getpid()}.last", solver.read(result))
    row["tags"]["batch"] = str(batch)
    # `kernelgrade` computes the interval from the samples, or from several processes.
    row |= {
        "median_ns": statistics.median(samples),
        "ci_lo_ns": min(samples),
        "ci_hi_ns": max(samples),
        "process_medians_ns": [statistics.median(samples)],
        "samples_ns": samples,
    }


def work(case: Case, variant: str, journal: TextIO) -> None:
    run = copy.deepcopy(case.begins)
    row = run["rows"][0]
    row["variant"] = variant
    print("begins", json.dumps(run), file=journal, flush=True)
    row["verified"] = ""
    module = None
    try:
        module = registry.load(variant)
        library = module.library() + (", CPU time" if CPU_TIME else "")
        row["tags"]["library"] = row["identity"] = library
        measure(case, variant, row)
    except Unsupported as reason:
        row["verified"] = f"unsupported: {reason}"
        row["tags"]["failure"] = "unsupported"
    except Exception as error:  # any exception of a framework fails its row
        row["verified"] = f"{type(error).__name__}: {error}"
        row["tags"]["failure"] = "error"
    print(json.dumps(run), file=journal, flush=True)
    gc.collect()
    # If this throws, the device is lost and the process ends: another process takes the remaining rows.
    getattr(module, "release", lambda: None)()


def main(words: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="kernelgrade-peers work")
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--batch", type=Path, required=True)
    parser.add_argument("--journal", type=Path, required=True)
    parser.add_argument("--shuffle", type=int, default=0)
    options = parser.parse_args(words)
    # Stops measuring if the parent is killed.
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    cases = read_cases(options.folder)
    rows = argparse.ArgumentParser()
    rows.add_argument("--case")
    rows.add_argument("--variant")
    rows.add_argument("--mode")
    chosen = [rows.parse_args(line.split()) for line in options.batch.read_text().splitlines()]
    if options.shuffle:
        random.Random(options.shuffle).shuffle(chosen)
    with options.journal.open("a") as journal:
        for each in chosen:
            work(cases[each.case], each.variant, journal)
