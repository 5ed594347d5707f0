# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# action.py SOURCE PROGRAMS: the shell steps of action.yml as GitHub's runner runs them, on a caller's repository, with a wheel that holds
# the Python package of SOURCE and the programs of a build. So do the commands of the how-to for GitLab and Jenkins.
# 77: there is no PyYAML or no jsonschema.
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
import zipfile
from pathlib import Path

try:
    import jsonschema  # noqa: F401 # of validate.py
    import yaml
except ImportError:
    print("skipped: there is no PyYAML or no jsonschema (Debian: python3-yaml, python3-jsonschema)")
    sys.exit(77)

source, programs = Path(sys.argv[1]), Path(sys.argv[2])
action = yaml.safe_load((source / "action.yml").read_text())
work = Path(tempfile.mkdtemp())


def wheel() -> Path:
    """A wheel whose bin is a link to the programs once it is installed: see run()."""
    file = work / "kernelgrade-1.2.3-py3-none-any.whl"
    info = "kernelgrade-1.2.3.dist-info"
    with zipfile.ZipFile(file, "w") as archive:
        for each in (source / "python/kernelgrade").glob("*.py"):
            archive.write(each, f"kernelgrade/{each.name}")
        archive.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: kernelgrade\nVersion: 1.2.3\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    return file


class Job:
    """A job of a repository that uses the action with these inputs: its exit code, what it said, and its files."""

    def __init__(self, files: list[Path], **inputs: str) -> None:
        unknown = set(inputs) - set(action["inputs"])
        assert not unknown, f"action.yml has no input {unknown}"
        self.repository = Path(tempfile.mkdtemp(dir=work))
        (self.repository / ".git").mkdir()
        for file in files:
            shutil.copy(file, self.repository)
        values = {name: given["default"] for name, given in action["inputs"].items()} | {"wheel": str(wheel())} | inputs
        runner = Path(tempfile.mkdtemp(dir=work))
        self.output, self.page = runner / "output", runner / "summary.md"
        variables = {"GITHUB_PATH": runner / "path", "GITHUB_OUTPUT": self.output, "GITHUB_STEP_SUMMARY": self.page, "RUNNER_TEMP": runner}
        self.said = ""
        for step in action["runs"]["steps"]:
            assert "uses" not in step, f"{step['name']}: the test runs shell steps alone"
            own = {name: filled(value, values) for name, value in step.get("env", {}).items()}
            # As the runner calls bash.
            done = subprocess.run(
                ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", filled(step["run"], values)],
                cwd=self.repository,
                env={**os.environ, "GITHUB_ACTIONS": "true", **{name: str(value) for name, value in variables.items()}, **own},
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
            self.said += done.stdout
            self.code = done.returncode
            if self.code != 0:
                break
            for site in runner.glob("kernelgrade/lib/python3*/site-packages/kernelgrade"):
                if not (site / "bin").exists():
                    (site / "bin").symlink_to(programs)

    def outputs(self) -> dict[str, Path]:
        pairs = (line.split("=", 1) for line in self.output.read_text().splitlines())
        return {name: self.repository / value for name, value in pairs}


def filled(text: str, values: dict[str, str]) -> str:
    return re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda found: values[found[1]], text)


def snippet(heading: str) -> str:
    """The code of a section of the how-to."""
    page = (source / "docs/how-to/use_the_action.md").read_text()
    return re.search(rf"## {heading}\n\n```\w+\n(.*?)```", page, re.S)[1]


class Elsewhere(unittest.TestCase):
    def run_as_typed(self, commands: list[str], files: list[str]):
        """Runs the commands of a job, which find a race, where pip knows our wheel alone; `files` are there then."""
        repository = Path(tempfile.mkdtemp(dir=work))
        for folder in ("include", "src"):
            (repository / folder).mkdir()
        shutil.copy(source / "examples/check/race.cu", repository / "src/main.cu")
        subprocess.run([sys.executable, "-m", "venv", repository / "image"], check=True)  # python:3.12, say
        given = {"PATH": f"{repository}/image/bin:{os.environ['PATH']}", "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(wheel().parent)}
        for command in commands:
            done = subprocess.run(["sh", "-ec", command], cwd=repository, env={**os.environ, **given}, capture_output=True, text=True)
            for site in repository.glob("*/lib/python3*/site-packages/kernelgrade"):
                if not (site / "bin").exists():
                    (site / "bin").symlink_to(programs)
            self.assertEqual(done.returncode, int(command == commands[-1]), done.stdout + done.stderr)
        self.assertIn("[race] kernel reverse_chunks", (repository / "report/junit.xml").read_text())
        for file in files:
            self.assertTrue((repository / file).exists(), file)

    def test_gitlab(self):
        job = yaml.safe_load(snippet("GitLab"))["kernels"]
        self.run_as_typed(job["script"], [*job["artifacts"]["paths"], job["artifacts"]["reports"]["junit"]])

    def test_jenkins(self):
        stage = snippet("Jenkins")
        self.run_as_typed(re.findall(r"sh '(.*)'", stage), re.findall(r"(?:junit |pattern: )'(.*?)'", stage))


class Action(unittest.TestCase):
    maxDiff = None

    def test_findings(self):
        job = Job(
            [source / "examples/check/race.cu", *(source / "tests/unit/perf/cli/check/programs").iterdir()],
            check="race.cu\n\nfaults.cu -- bounds\nrace.cu -D REPAIRED",
        )
        self.assertEqual(job.code, 1, job.said)
        sarif = job.outputs()["sarif"]
        done = subprocess.run(
            [sys.executable, source / "tests/unit/perf/cli/check/validate.py", source / "tests/unit/perf/cli/check/sarif-schema-2.1.0.json", sarif], capture_output=True, text=True
        )
        self.assertEqual(done.returncode, 0, done.stdout)
        (run,) = json.loads(sarif.read_text())["runs"]
        rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
        self.assertEqual({rules[result["ruleIndex"]] for result in run["results"]}, {"race", "out-of-bounds"})
        self.assertTrue(all(rules[result["ruleIndex"]] == result["ruleId"] for result in run["results"]))
        self.assertRegex(job.said, r"(?m)^::error file=race\.cu,line=18::\[race\] kernel reverse_chunks")
        self.assertRegex(job.page.read_text(), r"\| check race\.cu \| \*\*FAILED: 2 findings")
        self.assertRegex(job.page.read_text(), r"\| check race\.cu -D REPAIRED \| passed: no findings")
        suite = ElementTree.parse(job.outputs()["junit"]).getroot()
        self.assertEqual((suite.get("tests"), suite.get("failures")), ("3", "2"))
        self.assertIn("[race]", suite.find("testcase/failure").text)

    def test_input_is_no_shell(self):
        job = Job([source / "examples/check/race.cu"], check='race.cu -D REPAIRED -- "$(touch broken)"; touch broken')
        self.assertEqual(job.code, 0, job.said)
        self.assertFalse((job.repository / "broken").exists())

    def test_label(self):
        job = Job([], label="unit", ctest="nowhere")
        self.assertEqual(job.code, 1, job.said)

    def test_nothing_to_run(self):
        job = Job([])
        self.assertEqual(job.code, 2, job.said)
        self.assertIn("nothing to run", job.said)

    def test_no_wheel(self):
        job = Job([], check="race.cu", wheel=str(work / "missing.whl"))
        self.assertEqual(job.code, 1, job.said)


try:
    result = unittest.main(argv=[sys.argv[0], *sys.argv[3:]], exit=False).result
finally:
    shutil.rmtree(work)
sys.exit(not result.wasSuccessful() or result.testsRun == 0)
