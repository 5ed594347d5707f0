# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
"""A plugin of pytest: with --kernelgrade the tests marked `gpu` run on the emulator, each in a process of its own.

The process is `kernelgrade emulate -- python` with pytest, this plugin and one test, and writes its reports to a file. The process that
started it passes them on as its own. It reports a failure where the emulator found something or the reports are not complete.
"""

from __future__ import annotations

import argparse
import faulthandler
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any, Optional

import pytest

from kernelgrade._api import program

_REPORTS = "KERNELGRADE_PYTEST_REPORTS"  # the environment variable that makes a process that of one test, and names its file
_START = "import os, sys; sys.path[:] = sys.argv.pop(1).split(os.pathsep); import pytest; sys.exit(pytest.main())"
_GRACE = 5  # seconds for a process that is late to say where it is, and to end itself
_LINES = 40  # of the output of a process that ended without its reports
# Options of a whole run, as the process of one test has them: it leaves their files alone and starts no others.
_OF_A_RUN = {"basetemp": None, "cacheclear": False, "failedfirst": False, "lf": False, "newfirst": False, "numprocesses": None}
_OF_A_RUN |= {"pastebin": None, "stepwise": False, "tx": [], "xmlpath": None}


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("kernelgrade", "GPU tests on the emulator of Kernelgrade")
    group.addoption("--kernelgrade", action="store_true", help="run the tests marked gpu on the emulator, each in a process of its own")
    group.addoption("--kernelgrade-checked", action="store_true", help="with --kernelgrade: find races, and errors of memory and barriers")
    group.addoption("--kernelgrade-timeout", type=_seconds, default=300, metavar="SECONDS", help="for each of them (default: 300)")
    group.addoption("--kernelgrade-program", metavar="FILE", help="the program kernelgrade (default: that of the Python package)")
    parser.addini("kernelgrade_marker", "the marker of tests that need a GPU (default: gpu)", default="gpu")


def _seconds(word: str) -> float:
    try:
        value = float(word)
    except ValueError:
        value = 0
    if not 0 < value < 1e6:
        raise argparse.ArgumentTypeError(f"{word}: a number of seconds above 0 and below 1000000")
    return value


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    if file := os.environ.pop(_REPORTS, None):  # a pytest that the test starts is none of ours
        for name, value in _OF_A_RUN.items():
            if hasattr(config.option, name):
                setattr(config.option, name, value)
        config.option.kernelgrade = config.option.kernelgrade_checked = False
        config.pluginmanager.register(_OneTest(config, file))


def pytest_configure(config: pytest.Config) -> None:
    marker = config.getini("kernelgrade_marker")
    if not marker.isidentifier():
        raise pytest.UsageError(f"kernelgrade_marker = {marker}: a marker is a Python name, such as gpu")
    config.addinivalue_line("markers", f"{marker}: needs a GPU; with --kernelgrade, it runs on the emulator")
    if config.option.kernelgrade:
        config.pluginmanager.register(_Emulator(config, marker))
    elif config.option.kernelgrade_checked:
        raise pytest.UsageError("--kernelgrade-checked has no effect alone; add --kernelgrade")


class _OneTest:
    """In the process of one test."""

    def __init__(self, config: pytest.Config, file: str) -> None:
        self.config = config
        self.file = open(file, "a", encoding="utf-8")

    def write(self, data: dict[str, Any]) -> None:
        self.file.write(json.dumps(data, default=str) + "\n")
        self.file.flush()

    @pytest.hookimpl(trylast=True)
    def pytest_configure(self) -> None:
        if reporter := self.config.pluginmanager.get_plugin("terminalreporter"):
            self.config.pluginmanager.unregister(reporter)
        # To the standard error that pytest redirects later. It ends the process even if nobody waits for it any more.
        faulthandler.dump_traceback_later(self.config.option.kernelgrade_timeout, exit=True, file=os.dup(2))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.write(self.config.hook.pytest_report_to_serializable(config=self.config, report=report))

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if not report.passed:
            self.write(self.config.hook.pytest_report_to_serializable(config=self.config, report=report))

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        self.write({"status": int(session.exitstatus)})


class _Emulator:
    """In the process that the user started, and in those of pytest-xdist."""

    def __init__(self, config: pytest.Config, marker: str) -> None:
        self.config, self.marker = config, marker
        if config.getoption("usepdb") or config.getoption("trace"):
            raise pytest.UsageError("--kernelgrade: tests run in other processes, so leave out --pdb and --trace")

    def pytest_report_header(self) -> str:
        option = self.config.option
        how = ", checked" if option.kernelgrade_checked else ""
        return f"kernelgrade: tests marked {self.marker} run on the emulator{how}, for at most {option.kernelgrade_timeout:g} s each"

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionstart(self) -> None:
        option = self.config.option
        if option.collectonly:
            return
        self.words = _options(self.config)
        try:
            path = str(Path(option.kernelgrade_program or program("kernelgrade")).resolve())
            self.emulate = [path, "emulate", *["--checked"] * option.kernelgrade_checked, "--"]
            if hasattr(self.config, "workerinput"):  # of pytest-xdist, whose first process has tried it
                return
            done = subprocess.run([*self.emulate, "true"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        except OSError as error:
            raise pytest.UsageError(f"--kernelgrade: {error}; name a program that is built with --kernelgrade-program") from None
        if done.returncode != 0:
            raise pytest.UsageError(f"--kernelgrade: {path} does not emulate:\n{done.stdout.strip()}")

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        if session.items and not any(map(self.is_ours, session.items)):
            warnings.warn(pytest.PytestWarning(f"--kernelgrade: no test is marked {self.marker}, so none runs on the emulator"))

    def is_ours(self, item: pytest.Item) -> bool:
        return item.get_closest_marker(self.marker) is not None

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: Optional[pytest.Item]) -> Optional[bool]:
        if not self.is_ours(item):
            return None
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        folder = Path(tempfile.mkdtemp(prefix="kernelgrade-"))
        try:
            reports = _Process(self, item, folder).reports()
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        for report in reports:
            item.ihook.pytest_runtest_logreport(report=report)
        # Ends fixtures that tests before this one left to tests behind it. pytest has no public function for that.
        call = pytest.CallInfo.from_call(lambda: item.session._setupstate.teardown_exact(nextitem), when="teardown")
        if call.excinfo is not None:
            item.ihook.pytest_runtest_logreport(report=pytest.TestReport.from_item_and_call(item, call))
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        return True


def _options(config: pytest.Config) -> list[str]:
    """The words of the command line but the tests that they name."""
    words = [os.fspath(word) for word in config.invocation_params.args]
    named = config.getoption("file_or_dir")

    def names_tests(at: int) -> bool:  # in "-k softmax softmax" one of the two does
        if words[at] not in named:
            return False
        try:
            return "\0" in config._parser.parse([*words[:at], "\0", *words[at + 1 :]]).file_or_dir
        except pytest.UsageError:  # it is the value of an option that takes numbers, say
            return False

    options = [word for at, word in enumerate(words) if not names_tests(at)]
    if len(options) + len(named) != len(words):
        raise pytest.UsageError("--kernelgrade: name tests on the command line, and not in addopts, PYTEST_ADDOPTS or an @file")
    return options


class _Process:
    """A run of one test in its process."""

    def __init__(self, emulator: _Emulator, item: pytest.Item, folder: Path) -> None:
        self.item, config, option = item, item.config, item.config.option
        invocation, begin = config.invocation_params.dir, time.monotonic()
        words = [*emulator.words, os.path.relpath(item.path, invocation) + "".join(item.nodeid.partition("::")[1:])]
        self.again = f"again: {shlex.join(['pytest', *words])}"
        settings = ["--rootdir", str(config.rootpath), *(["-c", str(config.inipath)] if config.inipath else [])]
        command = [*emulator.emulate, sys.executable, "-c", _START, os.pathsep.join(sys.path), *settings, *words]
        reports, events, output = (folder / name for name in ("reports", "events", "output"))
        environment = {**os.environ, _REPORTS: str(reports), "KERNELGRADE_EVENTS": str(events)}
        with output.open("wb") as sink:
            process = subprocess.Popen(command, cwd=invocation, env=environment, stdin=subprocess.DEVNULL, stdout=sink, stderr=sink)
            try:
                self.code = process.wait(option.kernelgrade_timeout + _GRACE)
            except subprocess.TimeoutExpired:
                self.code = 1
            finally:  # also where the user interrupts; kernelgrade leaves none of its processes behind
                process.kill()
                process.wait()
        self.seconds = time.monotonic() - begin
        self.output = output.read_text(errors="replace")
        if option.capture == "no":
            sys.stdout.write(self.output)
        # kernels/runtime/event_file.h has the format.
        found = (event.partition("\n") for event in (events.read_text(errors="replace") if events.exists() else "").split("\0"))
        self.faults = [text.replace(f"{invocation}/", "") for kind, _, text in found if kind in ("fault", "refused")]
        self.status: Optional[int] = None
        self.tests: list[pytest.TestReport] = []
        self.collected: list[pytest.CollectReport] = []  # that did not pass
        for line in reports.read_text(encoding="utf-8").splitlines() if reports.exists() else []:
            self.receive(line)

    def receive(self, line: str) -> None:
        try:
            data = json.loads(line)
        except ValueError:  # the process was killed as it wrote
            return
        if "status" in data:
            self.status = data["status"]
            return
        if isinstance(data["longrepr"], list):  # a skip's tuple, which pytest demands and JSON does not have
            data["longrepr"] = tuple(data["longrepr"])
        report = self.item.config.hook.pytest_report_from_serializable(config=self.item.config, data=data)
        (self.tests if isinstance(report, pytest.TestReport) else self.collected).append(report)

    def reports(self) -> list[pytest.TestReport]:
        """What pytest is told of the test."""
        if self.status is not None and not self.tests and self.collected and all(each.skipped for each in self.collected):
            return [self.report("setup", "skipped", self.collected[0].longrepr)]  # its module is skipped
        tests, failed = self.tests, [each for each in self.tests if each.failed]
        xfailed = any(each.skipped and hasattr(each, "wasxfail") for each in tests)
        problem = self.problem(bool(failed))
        if problem or (self.faults and not failed and not xfailed):
            text = "\n".join([*problem, *self.faults, *(str(each.longrepr) for each in self.collected), self.again])
            if tests and tests[-1].when == "teardown" and not failed:
                last = [each for each in tests if each.when != "teardown"][-1]
                last.outcome, last.longrepr = "failed", text
            else:
                following = {"setup": "call", "call": "teardown", "teardown": "teardown"}
                tests.append(self.report(following[tests[-1].when] if tests else "setup", "failed", text))
        for each in failed:
            self.explain(each)
        return tests

    def problem(self, failed: bool) -> list[str]:
        """Why the reports do not say how the test ended; empty where they do."""
        limit = self.item.config.option.kernelgrade_timeout
        if self.status is None and self.seconds >= limit:
            why = f"timed out: the test had not ended after {limit:g} s (--kernelgrade-timeout)"
        elif self.status is None:
            why = f"the process of the test ended {_ending(self.code)} before the test did"
        elif not self.tests or self.tests[-1].when != "teardown":
            why = f"the process did not run the test (exit code {self.status} of pytest)"
        elif any(each.nodeid != self.item.nodeid for each in self.tests):
            why = "the process ran another test"
        elif self.status != int(failed):
            why = f"pytest ended with exit code {self.status} though the test {'failed' if failed else 'did not fail'}"
        elif self.code != self.status and not self.faults:
            why = f"the process ended {_ending(self.code)} after the test"
        else:
            return []
        lines = [line for line in self.output.strip().splitlines() if not re.search(r'File ".*/(_pytest|pluggy)/', line)]
        return [why, *(["its output:"] if lines else []), *lines[-_LINES:]]

    def report(self, when: Any, outcome: Any, text: Any) -> pytest.TestReport:
        keywords = dict.fromkeys(self.item.keywords, 1)
        return pytest.TestReport(self.item.nodeid, self.item.location, keywords, outcome, text, when, duration=self.seconds)

    def explain(self, report: pytest.TestReport) -> None:
        """Adds what the emulator found to a failure that the test noticed itself."""
        text = "\n".join([*self.faults, self.again])
        if not hasattr(report.longrepr, "addsection"):
            report.longrepr = f"{report.longrepr}\n{text}"
            return
        report.longrepr.addsection("Kernelgrade", text)
        if self.faults and report.longrepr.reprcrash is not None:
            report.longrepr.reprcrash.message = self.faults[0].splitlines()[0]  # the summary's line, and JUnit's message


def _ending(code: int) -> str:
    try:
        return f"by {signal.Signals(-code if code < 0 else code - 128).name}"
    except ValueError:
        return f"with exit code {code}"
