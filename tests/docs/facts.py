#!/usr/bin/env python3
# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
"""The numbers that pages state about the project, counted where they come from.

  python3 tests/docs/facts.py [--build DIR]       compares each <!-- fact:NAME -->N<!-- /fact --> of all pages; exit code 1 if one differs
  python3 tests/docs/facts.py --rewrite           writes the counted numbers into the pages
  python3 tests/docs/facts.py --list              prints all names with their numbers
"""

import argparse
import csv
import json
import math
import re
import statistics
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from pathlib import Path

from page import pages, root

FACT = re.compile(r"<!-- fact:(.*?) -->(.*?)<!-- /fact -->", re.DOTALL)
FRAMEWORKS = ("cuda.core", "cupy", "numba_cuda", "pycuda", "triton")  # of python_emulated.csv
OPENED = re.compile(r"<!-- /?fact\b")


class Facts:
    """What is counted is there, or it is an error: every method raises OSError or ValueError where its source is missing."""

    def __init__(self, source: Path, build: Path) -> None:
        self.source, self.build = source, build

    @cache
    def dtypes(self) -> dict[str, list[str]]:
        """The types of each operation."""
        text = (self.source / "CMakeLists.txt").read_text(encoding="utf-8")
        found = {}
        for call in re.findall(r"^kernelgrade_add_op\(([^)]*)\)", text, re.MULTILINE):
            words = re.sub(r"#.*", "", call).split()
            types = words[words.index("DTYPES") + 1 :]
            end = next((at for at, word in enumerate(types) if word.isupper()), len(types))
            found[words[0]] = types[:end]
        return found

    @cache
    def mutants(self) -> int:
        files = sorted((self.source / "tests/ops").glob("*/mutants.json"))
        return sum(len(group["mutants"]) for file in files for group in json.loads(file.read_text(encoding="utf-8")))

    @cache
    def conformance_tests(self) -> list[int]:
        """How many each operation's f32 kernels, or those of its first type, must pass."""

        def count(operation: str, types: list[str]) -> int:
            suite = f"Contract/{'f32' if 'f32' in types else types[0]}"
            program = self.build / f"{operation}_test"
            listed = subprocess.run([program, "--gtest_list_tests", f"--gtest_filter={suite}.*"], capture_output=True, text=True, check=True)
            return sum(1 for line in listed.stdout.splitlines() if line.startswith("  "))

        with ThreadPoolExecutor() as pool:
            return list(pool.map(lambda each: count(*each), self.dtypes().items()))

    @cache
    def public_programs(self) -> list[dict[str, str]]:
        """The public CUDA programs that were tried."""
        with open(self.source / "docs/results/public_programs.csv", encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    def public(self, **wanted: str) -> int:
        return sum(1 for program in self.public_programs() if wanted.items() <= program.items())

    @cache
    def public_checks(self) -> list[dict[str, str]]:
        """What `check` said of those whose sources are as they were published."""
        with open(self.source / "docs/results/public_checks.csv", encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    @cache
    def public_emulated(self) -> list[str]:
        """What `emulate` said, without checkers and, behind a semicolon where it differs, with them, of those that nvcc built."""
        with open(self.source / "docs/results/public_emulated.csv", encoding="utf-8", newline="") as file:
            return [program["verdict"] for program in csv.DictReader(file) if program["verdict"] != "nvcc refuses it"]

    @cache
    def public_hopper(self) -> list[dict[str, str]]:
        with open(self.source / "docs/results/public_hopper.csv", encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    def hopper(self, verdict: str) -> int:
        return sum(1 for program in self.public_hopper() if program["verdict"] == verdict)

    def emulated(self, verdict: str) -> int:
        return sum(1 for said in self.public_emulated() if said == verdict)

    @cache
    def python_emulated(self) -> list[dict[str, str]]:
        """What `emulate` said of Python programs."""
        with open(self.source / "docs/results/python_emulated.csv", encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    def python(self, *frameworks: str, **wanted: str) -> int:
        return sum(1 for program in self.python_emulated() if (not frameworks or program["framework"] in frameworks) and wanted.items() <= program.items())

    def checked(self, *verdicts: str) -> int:
        return sum(1 for program in self.public_checks() if program["verdict"] in verdicts)

    def median_seconds(self, column: str) -> int:
        """Of the programs that ended, rounded up."""
        seconds = [float(program[column]) for program in self.public_checks() if program["verdict"] in ("clean", "finding")]
        return math.ceil(statistics.median(seconds))

    @cache
    def calibration(self) -> dict[str, dict[str, str]]:
        """The gate's own rows, by experiment."""
        with open(self.source / "baselines/host/calibration.csv", encoding="utf-8", newline="") as file:
            return {row["experiment"]: row for row in csv.DictReader(file) if row["rule"] == "kernelgrade" and row["rows"] == "all"}

    def all(self) -> dict[str, Callable[[], int]]:
        def calibrated(experiment: str, column: str) -> Callable[[], int]:
            return lambda: int(self.calibration()[experiment][column])

        return {
            "operations": lambda: len(self.dtypes()),
            "test_programs": lambda: sum(map(len, self.dtypes().values())),
            "mutants": self.mutants,
            "conformance_tests_least": lambda: min(self.conformance_tests()),
            "conformance_tests_most": lambda: max(self.conformance_tests()),
            "public_programs": lambda: len(self.public_programs()),
            "public_programs_compiled": lambda: self.public(compiled="yes"),
            "public_programs_correct": lambda: self.public(own_check="passed"),
            "public_programs_reduced": lambda: self.public(own_check="passed") - self.public(own_check="passed", reduced_in_source=""),
            "public_programs_passed_as_they_are": lambda: self.public(own_check="passed", reduced_in_source=""),
            "public_programs_failed": lambda: self.public(own_check="failed"),
            "public_programs_for_other_devices": lambda: self.public(own_check="does not apply"),
            "public_programs_did_not_end": lambda: self.public(own_check="did not end"),
            "public_programs_not_compiled": lambda: self.public(compiled="no"),
            "public_repositories": lambda: len({program["repository"] for program in self.public_programs()}),
            "public_checks": lambda: len(self.public_checks()),
            "public_checks_clean": lambda: self.checked("clean"),
            "public_checks_finding": lambda: self.checked("finding"),
            "public_checks_no_kernel": lambda: self.checked("no kernel"),
            "public_checks_did_not_end": lambda: self.checked("did not end"),
            "public_checks_compile_seconds": lambda: self.median_seconds("compile_s"),
            "public_checks_run_seconds": lambda: self.median_seconds("run_s"),
            "public_emulated": lambda: len(self.public_emulated()),
            "public_emulated_passed": lambda: sum(1 for said in self.public_emulated() if said.startswith("passed")),
            "public_emulated_clean": lambda: self.emulated("passed"),
            "public_emulated_finding": lambda: sum(1 for said in self.public_emulated() if said.endswith("finding")),
            "public_emulated_slow": lambda: self.emulated("passed; did not end"),
            "public_emulated_did_not_end": lambda: self.emulated("did not end"),
            "public_hopper": lambda: len(self.public_hopper()),
            "public_hopper_passed": lambda: sum(1 for program in self.public_hopper() if program["verdict"].startswith("passed")),
            "public_hopper_clean": lambda: self.hopper("passed"),
            "public_hopper_finding": lambda: self.hopper("passed; finding"),
            "python_emulated": self.python,
            "python_right": lambda: self.python(right="yes"),
            **{f"python_{name}": partial(self.python, name) for name in FRAMEWORKS},
            **{f"python_{name}_right": partial(self.python, name, right="yes") for name in FRAMEWORKS},
            "python_did_not_end": lambda: self.python(runs="did not end"),
            "python_failed": lambda: self.python(right="no") - self.python(runs="did not end"),
            "gate_unchanged_checks": calibrated("aa", "rows_checked"),
            "gate_false_alarms": calibrated("aa", "flagged"),
            "gate_slowed_5_checks": calibrated("inject_5", "rows_checked"),
            "gate_slowed_5_found": calibrated("inject_5", "flagged"),
            "gate_slowed_10_checks": calibrated("inject_10", "rows_checked"),
            "gate_slowed_10_found": calibrated("inject_10", "flagged"),
        }


def check(paths: list[Path], source: Path, facts: dict[str, Callable[[], int]], rewrite: bool = False) -> tuple[list[str], int]:
    """The findings, and how many facts were compared. With `rewrite` a stale number is corrected and is no finding."""
    found: list[str] = []
    count = 0
    for path in paths:
        text = path.read_text(encoding="utf-8")
        name = path.relative_to(source).as_posix()

        def compare(match: re.Match, text: str = text, name: str = name) -> str:
            nonlocal count
            count += 1
            where = f"{name}:{text.count(chr(10), 0, match.start()) + 1}"
            fact, stated = match.group(1), match.group(2)
            if fact not in facts:
                found.append(f"{where}: no fact '{fact}'; there are {', '.join(facts)}")
                return match.group(0)
            try:
                actual = f"{facts[fact]():,}"
            except (OSError, ValueError, KeyError, subprocess.SubprocessError) as error:
                found.append(f"{where}: the fact {fact} cannot be counted: {error}")
                return match.group(0)
            if stated != actual and not rewrite:
                found.append(f"{where}: {fact} is {actual}, the page says {stated}; python3 tests/docs/facts.py --rewrite")
            return f"<!-- fact:{fact} -->{actual}<!-- /fact -->"

        corrected = FACT.sub(compare, text)
        if stray := OPENED.search(FACT.sub("", text)):
            found.append(f"{name}: '{stray.group(0)}' has no partner; write <!-- fact:NAME -->N<!-- /fact -->")
        elif rewrite and corrected != text:
            path.write_text(corrected, encoding="utf-8")
    return found, count


def main() -> int:
    parser = argparse.ArgumentParser(description="Compares the numbers that pages state about the project.")
    parser.add_argument("--source", type=Path, default=root(), help="the project's root")
    parser.add_argument("--build", type=Path, help="the build tree with the test programs; default: build/host")
    parser.add_argument("--rewrite", action="store_true", help="write the counted numbers into the pages")
    parser.add_argument("--list", action="store_true", help="print the names and the numbers")
    options = parser.parse_args()
    source = options.source.resolve()
    facts = Facts(source, options.build or source / "build/host").all()
    if options.list:
        for name, number in facts.items():
            print(f"{name:28} {number():,}")
        return 0
    found, count = check(pages(source), source, facts, options.rewrite)
    for line in found:
        print(line)
    print(f"{count} facts, {len(found)} findings")
    return 1 if found or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
