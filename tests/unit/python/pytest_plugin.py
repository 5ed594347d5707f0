# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# pytest_plugin.py SOURCE PROGRAMS: `pytest --kernelgrade` on tests that are right and that go wrong in each way, with the Python package laid
# out as the wheel lays it out, and the programs and the emulator of a build. 77: there is no pytest.
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
from importlib.util import find_spec
from pathlib import Path

DEBIAN = Path("/usr/bin/python3")  # whose packages another python3 does not see
if find_spec("pytest") is None and DEBIAN.exists() and not DEBIAN.samefile(sys.executable):
    os.execv(DEBIAN, [DEBIAN, *sys.argv])
if find_spec("pytest") is None:
    print("skipped: there is no pytest (Debian: python3-pytest; or pip install pytest)")
    sys.exit(77)

source, programs = Path(sys.argv[1]), Path(sys.argv[2])
work = Path(tempfile.mkdtemp())
package = work / "site/kernelgrade"
example = source / "examples/emulate/test_scale.py"

# Two kernels more, with the driver and the fixture of the example.
TOOLS = r'''
import ctypes, os, signal, sys, time
from pathlib import Path
import pytest
from test_scale import PTX, gpu  # noqa: F401

REVERSE = b"""
.version 7.0
.target sm_80
.address_size 64
.visible .entry reverse(.param .u64 x)
{
  .reg .b32 %r<7>;
  .reg .b64 %rd<5>;
  .shared .align 4 .b8 chunk[512];
  ld.param.u64 %rd1, [x];
  cvta.to.global.u64 %rd2, %rd1;
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd3, %r1, 4;
  add.s64 %rd4, %rd2, %rd3;
  ld.global.u32 %r2, [%rd4];
  mov.u32 %r3, chunk;
  mad.lo.s32 %r4, %r1, 4, %r3;
  st.shared.u32 [%r4], %r2;
  BARRIER
  sub.s32 %r5, %r4, %r3;
  sub.s32 %r5, 508, %r5;
  add.s32 %r5, %r5, %r3;
  ld.shared.u32 %r6, [%r5];
  st.global.u32 [%rd4], %r6;
  ret;
}
"""

def reverse(gpu, barrier):
    x = (ctypes.c_int * 128)(*range(128))
    gpu.launch(REVERSE.replace(b"BARRIER", barrier), b"reverse", 1, 128, x)
    assert list(x) == list(range(127, -1, -1))
'''


def lay_out() -> None:
    shutil.copytree(source / "python/kernelgrade", package)
    (package / "bin").mkdir()
    for name in ("kernelgrade", "kernelgrade-guard"):
        shutil.copy(programs / name, package / "bin")
    shutil.copytree(programs.parent / "lib/emulate", package / "lib/emulate", symlinks=True)
    info = work / "site/kernelgrade-1.2.3.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: kernelgrade\nVersion: 1.2.3\n")
    entry = re.search(r'(?m)^\[project\.entry-points\.pytest11\]\n(\w+) = "([\w.]+)"$', (source / "pyproject.toml").read_text())
    (info / "entry_points.txt").write_text(f"[pytest11]\n{entry[1]} = {entry[2]}\n")


class Plugin(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(dir=work))
        shutil.copy(example, self.folder)
        self.write("tools.py", TOOLS)
        self.write("pytest.ini", "[pytest]\n")
        self.cases = {}

    def write(self, name: str, text: str) -> None:
        (self.folder / name).parent.mkdir(exist_ok=True)
        (self.folder / name).write_text(text)

    def pytest(self, words: str, **variables: str) -> int:
        """Runs it in the folder: its exit code. What it said is in `said`, and JUnit's outcome of each test in `cases`."""
        file = self.folder / "junit.xml"
        file.unlink(missing_ok=True)
        done = subprocess.run(
            [sys.executable, "-m", "pytest", *shlex.split(words)],
            cwd=self.folder,
            env={
                **os.environ,
                "PYTHONPATH": str(work / "site"),
                "PYTEST_ADDOPTS": f"-p no:cacheprovider --junitxml={file}",
                "KERNELGRADE_JIT_CACHE": str(work / "cache"),
                "COLUMNS": "200",
                **variables,
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.said = done.stdout
        self.cases = {}
        for case in ElementTree.parse(file).iter("testcase") if file.exists() else []:
            self.cases.setdefault(case.get("name"), []).extend([(child.tag, child.get("message") or "", child.text or "") for child in case])
        return done.returncode

    def outcome(self, test: str, *wanted: str) -> None:
        """A test failed, in JUnit too, and says all of this."""
        (tag, message, text), *_ = self.cases[test] or [("passed", "", "")]
        self.assertIn(tag, ("failure", "error"), f"{test}\n{self.said}")
        for words in wanted:
            self.assertRegex(f"{message}\n{text}", words)

    def again(self) -> str:
        """The words behind `pytest` of the one command that repeats a failure."""
        (command,) = set(re.findall(r"(?m)^again: pytest (.*)$", self.said))
        return command

    def test_example(self):
        self.assertEqual(self.pytest("--kernelgrade --kernelgrade-checked test_scale.py"), 1, self.said)
        self.assertIn("1 failed, 1 passed", self.said)
        self.assertEqual(self.cases["test_scale[256]"], [])
        finding = r"\[out-of-bounds\] kernel scale, block \(2,0,0\), thread \(44,0,0\) reads 4 bytes at .*: just behind the end of a buffer of 1200 bytes"
        self.outcome("test_scale[300]", r"\A" + finding, r"(?m)^again: pytest .*--kernelgrade-checked 'test_scale\.py::test_scale\[300\]'$")
        self.assertRegex(self.said, r"FAILED test_scale\.py::test_scale\[300\] - \[out-of-bounds\]")
        # The command that it names says the same of that test alone.
        self.assertEqual(self.pytest(self.again()), 1, self.said)
        self.assertEqual(list(self.cases), ["test_scale[300]"])
        self.outcome("test_scale[300]", finding)

    def test_page(self):
        text = (source / "docs/how-to/emulate_from_python.md").read_text()
        command, shown = re.search(r"(?ms)^\$ pytest (.*?)\n(.*?)^```$", text).groups()
        shutil.copytree(source / "examples/emulate", self.folder / "examples/emulate")
        self.assertEqual(self.pytest(command), 1, self.said)
        for line in shown.splitlines():
            words = re.sub(r"\d+\\\.\d+s", r"\\d+\\.\\d+s", re.escape(line).replace(r"\.\.\.", ".*"))
            self.assertRegex(self.said, words)

    def test_without_checkers(self):
        self.assertEqual(self.pytest("--kernelgrade test_scale.py"), 0, self.said)
        self.assertIn("2 passed", self.said)

    def test_off(self):
        self.write("test_off.py", "import pytest\n\n@pytest.mark.gpu\ndef test_here(): assert 'KERNELGRADE_EVENTS' not in __import__('os').environ\n")
        self.assertEqual(self.pytest("--strict-markers -W error test_off.py"), 0, self.said)
        self.assertNotIn("emulator", self.said)

    def test_findings(self):
        self.write(
            "test_findings.py",
            """from tools import *
pytestmark = pytest.mark.gpu

def test_right(gpu): reverse(gpu, b"bar.sync 0;")

class TestChunks:
    def test_race(self, gpu): reverse(gpu, b"")

    def test_unseen(self, gpu):  # an error that the test does not ask for
        try: reverse(gpu, b"")
        except AssertionError: pass

    @pytest.mark.xfail(reason="known")
    def test_known(self, gpu): reverse(gpu, b"")
""",
        )
        self.assertEqual(self.pytest("--kernelgrade --kernelgrade-checked test_findings.py"), 1, self.said)
        self.assertIn("2 failed, 1 passed, 1 xfailed", self.said)
        self.assertEqual(self.cases["test_right"], [])
        self.outcome("test_race", r"\[race\] kernel reverse", r"hint: put __syncthreads\(\)", "again: pytest")
        self.outcome("test_unseen", r"\[race\] kernel reverse", "again: pytest")

    def test_processes_that_do_not_report(self):
        self.write(
            "test_bad.py",
            """from tools import *
pytestmark = pytest.mark.gpu
if "KERNELGRADE_EVENTS" in os.environ and "test_import" in sys.argv[-1]: import nothing_of_this_name

def test_hangs():
    def waits(): time.sleep(1000)
    waits()

def test_killed(): os.kill(os.getpid(), signal.SIGKILL)
def test_exits(): os._exit(0)
def test_stops(): pytest.exit("enough", returncode=0)
def test_import(): pass

@pytest.fixture
def exits_behind():
    yield
    os._exit(0)

def test_exits_behind(exits_behind): pass

def test_exit_code():
    import atexit
    atexit.register(os._exit, 3)

def test_two():
    with open("/proc/self/fd/2", "w") as out: print("last words", file=out)
    assert 1 == 2
""",
        )
        self.assertEqual(self.pytest("--kernelgrade --kernelgrade-timeout=4 test_bad.py"), 1, self.said)
        self.assertNotIn("passed", self.said.splitlines()[-1].replace("1 passed", "", 1))  # the test before its fixture exits
        self.outcome("test_hangs", r"\Atimed out: the test had not ended after 4 s", "in waits")
        self.outcome("test_killed", "ended by SIGKILL before the test did", r"again: pytest .*::test_killed")
        self.outcome("test_exits", "ended with exit code 0 before the test did")
        self.outcome("test_stops", "did not run the test")
        self.outcome("test_import", "No module named 'nothing_of_this_name'")
        self.outcome("test_exits_behind", "ended with exit code 0 before the test did")
        self.outcome("test_exit_code", "ended with exit code 3 after the test")
        self.outcome("test_two", "assert 1 == 2", "again: pytest")

    def test_import_fails(self):
        self.write("test_import.py", "import nothing_of_this_name\n")
        self.assertEqual(self.pytest("--kernelgrade test_import.py"), 2, self.said)

    def test_skips(self):
        self.write("test_skips.py", "from tools import *\npytestmark = pytest.mark.gpu\n\ndef test_one(): pytest.skip('no tensor cores')\n")
        self.write(
            "test_module.py",
            "from tools import *\nif 'KERNELGRADE_EVENTS' in os.environ: pytest.skip('whole module', allow_module_level=True)\n"
            "@pytest.mark.gpu\ndef test_two(): pass\n",
        )
        self.assertEqual(self.pytest("--kernelgrade -rs test_skips.py test_module.py"), 0, self.said)
        self.assertIn("2 skipped", self.said)
        self.assertRegex(self.said, r"SKIPPED .*no tensor cores")
        self.assertRegex(self.said, r"SKIPPED .*whole module")

    def test_fixtures_and_selection(self):
        self.write(
            "deep/conftest.py",
            """import os, pytest
LOG = os.path.join(os.path.dirname(__file__), "log")

def pytest_addoption(parser): parser.addoption("--level")

@pytest.fixture(scope="module")
def shared(request):
    where = "emulator" if "KERNELGRADE_EVENTS" in os.environ else "here"
    with open(LOG, "a") as file: file.write(f"begin {where}\\n")
    yield request.config.getoption("--level")
    with open(LOG, "a") as file: file.write(f"end {where}\\n")
""",
        )
        for name in ("test_a.py", "test_b.py"):
            self.write(
                f"deep/{name}",
                """import os, pytest
def test_plain(shared): assert shared == "deep"
@pytest.mark.device
@pytest.mark.parametrize("word", ["a::b", "c d/e"])
def test_marked(shared, word, tmp_path, record_property, request):
    record_property("word", word)
    assert request.config.getoption("xmlpath") is None and "KERNELGRADE_PYTEST_REPORTS" not in os.environ
    assert shared == "deep"
""",
            )
        self.write("pytest.ini", "[pytest]\nkernelgrade_marker = device\naddopts = --strict-markers\n")
        self.assertEqual(self.pytest("--kernelgrade deep -k deep --level deep"), 0, self.said)  # "deep" in three roles
        self.assertIn("6 passed", self.said)
        log = (self.folder / "deep/log").read_text().splitlines()
        self.assertEqual((log.count("begin here"), log.count("end here"), log.count("begin emulator"), log.count("end emulator")), (2, 2, 4, 4))
        self.assertEqual([child[0] for child in self.cases["test_marked[a::b]"]], ["properties", "properties"])
        self.assertEqual(self.pytest("--kernelgrade --level deep 'deep/test_a.py::test_marked[c d/e]'"), 0, self.said)
        self.assertIn("1 passed", self.said)
        self.assertEqual(self.pytest("--kernelgrade --level=other deep/test_a.py -x deep/test_b.py"), 1, self.said)
        self.assertIn("1 failed", self.said.splitlines()[-1])
        self.assertEqual(self.pytest("--kernelgrade --level=other -x deep/test_a.py -k marked"), 1, self.said)
        self.assertEqual(len(self.cases), 1)
        self.assertIn("--level=other", self.again())

    def test_folders_without_settings(self):
        (self.folder / "pytest.ini").unlink()  # the folder that holds all tests is their root, by which they are named
        self.write("test_marked.py", "from tools import *\n\n@pytest.mark.gpu\ndef test_marked(): pass\n")
        self.write(f"../{self.folder.name}_beside/test_plain.py", "def test_plain(): pass\n")
        self.assertEqual(self.pytest(f"--kernelgrade test_marked.py ../{self.folder.name}_beside"), 0, self.said)
        self.assertIn("2 passed", self.said)

    def test_unmarked(self):
        self.write("test_plain.py", "def test_plain(): pass\n")
        self.assertEqual(self.pytest("--kernelgrade test_plain.py"), 0, self.said)
        self.assertIn("no test is marked gpu", self.said)

    def test_collect(self):
        self.assertEqual(self.pytest("--kernelgrade --collect-only -q --kernelgrade-program=nowhere test_scale.py"), 0, self.said)
        self.assertIn("test_scale.py::test_scale[300]", self.said)

    def test_wrong_words(self):
        for words, wanted in [
            ("--kernelgrade --kernelgrade-timeout=0", "0: a number of seconds above 0"),
            ("--kernelgrade --kernelgrade-timeout=soon", "soon: a number of seconds"),
            ("--kernelgrade-checked", "add --kernelgrade"),
            ("--kernelgrade --pdb", "leave out --pdb"),
            ("--kernelgrade --kernelgrade-program=nowhere", "nowhere.*--kernelgrade-program"),
            ("--kernelgrade --kernelgrade-program=/bin/false", "does not emulate"),
            ("--kernelgrade -o kernelgrade_marker='not slow'", "not slow: a marker is a Python name"),
        ]:
            self.assertEqual(self.pytest(f"{words} test_scale.py"), 4, f"{words}\n{self.said}")
            self.assertRegex(self.said, wanted)
        self.assertEqual(self.pytest("--kernelgrade", PYTEST_ADDOPTS="test_scale.py"), 4, self.said)
        self.assertIn("name tests on the command line", self.said)

    @unittest.skipUnless(find_spec("xdist"), "there is no pytest-xdist")
    def test_xdist(self):
        self.assertEqual(self.pytest("--kernelgrade --kernelgrade-checked -n 2 test_scale.py"), 1, self.said)
        self.assertIn("1 failed, 1 passed", self.said)
        self.outcome("test_scale[300]", r"\[out-of-bounds\] kernel scale", r"again: pytest .*-n 2 'test_scale\.py::test_scale\[300\]'")


try:
    lay_out()
    result = unittest.main(argv=[sys.argv[0], *sys.argv[3:]], exit=False).result
finally:
    shutil.rmtree(work)
sys.exit(not result.wasSuccessful() or result.testsRun == 0)
