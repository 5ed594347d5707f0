# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
"""Several checks as one step of a CI job: python -m kernelgrade.ci --check "race.cu" --try "softmax my_softmax.cu" --out report

Writes kernelgrade.sarif, junit.xml and summary.md into the folder, and junit-<label>.xml for each label of CTest. On GitHub findings become annotations and
the summary the job's page. Exit codes: 0 all passed, 1 something did not, 2 usage error.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kernelgrade._api import program, version


@dataclass
class Step:
    """A command that ran."""

    name: str
    code: int
    seconds: float
    output: str

    @property
    def verdict(self) -> str:
        """The line by which a program ends, or how it ended."""
        lines = [line for line in self.output.splitlines() if line.startswith(("passed", "FAILED"))]
        return lines[-1] if lines else f"exit code {self.code}"


def main(words: list[str] | None = None) -> int:
    options = parse(words)
    out: Path = options.out
    out.mkdir(parents=True, exist_ok=True)
    steps: list[Step] = []
    logs: list[dict[str, Any]] = []
    for number, line in enumerate(options.check):
        sarif = out / f"check-{number}.sarif"
        sarif.unlink(missing_ok=True)
        own, mark, arguments = line.partition(" -- ")
        command = [str(program("kernelgrade")), "check", *shlex.split(own), "--sarif", str(sarif)]
        steps.append(run(f"check {line}", command + (["--", *shlex.split(arguments)] if mark else [])))
        if sarif.is_file():  # none where the program does not compile
            logs.append(json.loads(sarif.read_text()))
            sarif.unlink()
    for line in options.try_:
        steps.append(run(f"try {line}", [str(program("kernelgrade")), "try", *shlex.split(line)]))
    for label in options.label:
        command = ["ctest", "--test-dir", str(options.ctest), "-L", f"^{label}$", "--no-tests=error", "--output-on-failure"]
        steps.append(run(f"ctest -L {label}", [*command, "--output-junit", str((out / f"junit-{label}.xml").resolve())]))
    sarif_log = merged(logs)
    (out / "kernelgrade.sarif").write_text(json.dumps(sarif_log, indent=2) + "\n")
    write_junit(steps, out / "junit.xml")
    text = summary(steps)
    (out / "summary.md").write_text(text)
    if os.environ.get("GITHUB_ACTIONS") == "true":
        annotate(sarif_log)
    if page := os.environ.get("GITHUB_STEP_SUMMARY"):
        with open(page, "a") as file:
            file.write(text)
    print(text)
    return int(any(step.code != 0 for step in steps))


def parse(words: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m kernelgrade.ci", description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="append", default=[], help="what follows `kernelgrade check`; several lines: several programs")
    parser.add_argument("--try", action="append", default=[], dest="try_", help="what follows `kernelgrade try`; likewise")
    parser.add_argument("--label", action="append", default=[], help="a label of CTest; likewise")
    parser.add_argument("--ctest", type=Path, default=Path("build"), help="the build folder of the tests (default: build)")
    parser.add_argument("--out", type=Path, default=Path("kernelgrade-report"), help="the folder of the results")
    options = parser.parse_args(words)
    for name in ("check", "try_", "label"):
        lines = [line.strip() for value in getattr(options, name) for line in value.splitlines()]
        setattr(options, name, [line for line in lines if line])
    if not (options.check or options.try_ or options.label):
        parser.error("nothing to run: give --check, --try or --label")
    if wrong := [label for label in options.label if not re.fullmatch(r"\w[\w-]*", label)]:
        parser.error(f"--label {wrong[0]}: a label is letters, digits, _ and -")
    return options


def run(name: str, command: list[str]) -> Step:
    print(f"== {name}", flush=True)
    begin = time.monotonic()
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
        code, output = done.returncode, done.stdout
    except OSError as error:
        code, output = 127, f"{command[0]}: {error.strerror}\n"
    # A line of a program must not pass for a command to the runner.
    print("\n".join("| " + line for line in output.splitlines()), flush=True)
    return Step(name, code, time.monotonic() - begin, output)


def merged(logs: list[dict[str, Any]]) -> dict[str, Any]:
    """One run of SARIF: GitHub refuses several of the same tool."""
    rules: dict[str, dict[str, Any]] = {}
    results: list[dict[str, Any]] = []
    invocations: list[dict[str, Any]] = []
    bases: dict[str, Any] = {}
    for log in logs:
        for one in log["runs"]:
            bases.update(one.get("originalUriBaseIds", {}))
            invocations += one["invocations"]
            for rule in one["tool"]["driver"]["rules"]:
                rules.setdefault(rule["id"], rule)
            results += one["results"]
    places = {rule: place for place, rule in enumerate(rules)}
    driver = {"name": "Kernelgrade", "version": version, "rules": list(rules.values())}
    for result in results:
        result["ruleIndex"] = places[result["ruleId"]]
    whole = {"tool": {"driver": driver}, "invocations": invocations, "originalUriBaseIds": bases, "results": results}
    return {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [whole]}


def annotate(log: dict[str, Any]) -> None:
    """Findings as commands of GitHub's runner, at their lines."""
    for result in log["runs"][0]["results"]:
        level = {"error": "error"}.get(result["level"], "notice")
        where = ""
        if result["locations"]:
            place = result["locations"][0]["physicalLocation"]
            where = f" file={escaped(place['artifactLocation']['uri'], True)},line={place['region']['startLine']}"
        print(f"::{level}{where}::{escaped(result['message']['text'], False)}")


def escaped(text: str, value: bool) -> str:
    pairs = [("%", "%25"), ("\r", "%0D"), ("\n", "%0A")] + ([(":", "%3A"), (",", "%2C")] if value else [])
    for character, code in pairs:
        text = text.replace(character, code)
    return text


def write_junit(steps: list[Step], file: Path) -> None:
    failures = sum(step.code != 0 for step in steps)
    suite = ElementTree.Element("testsuite", name="kernelgrade", tests=str(len(steps)), failures=str(failures))
    for step in steps:
        case = ElementTree.SubElement(suite, "testcase", classname="kernelgrade", name=step.name, time=f"{step.seconds:.3f}")
        if step.code != 0:
            failure = ElementTree.SubElement(case, "failure", message=printable(step.verdict))
            failure.text = printable(step.output)
    ElementTree.ElementTree(suite).write(file, encoding="utf-8", xml_declaration=True)


def printable(text: str) -> str:
    """XML has no control characters."""
    return re.sub(r"[^\t\n\x20-\ud7ff\ue000-\ufffd]", "?", text)


def summary(steps: list[Step]) -> str:
    lines = ["| Kernelgrade | verdict | s |", "|---|---|---|"]
    for step in steps:
        name, verdict = (re.sub(r"([|<>`\\])", r"\\\1", text) for text in (step.name, step.verdict))
        lines.append(f"| {name} | {'' if step.code == 0 else '**'}{verdict}{'' if step.code == 0 else '**'} | {step.seconds:.1f} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
