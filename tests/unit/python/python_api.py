# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# python_api.py SOURCE PROGRAMS: the Python package, laid out as the wheel lays it out, with the programs of a build.
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

source, programs = Path(sys.argv[1]), Path(sys.argv[2])
site = Path(tempfile.mkdtemp())
shutil.copytree(source / "python/kernelgrade", site / "kernelgrade")
(site / "kernelgrade/bin").symlink_to(programs)
(site / "kernelgrade-1.2.3.dist-info").mkdir()
(site / "kernelgrade-1.2.3.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: kernelgrade\nVersion: 1.2.3\n")
sys.path.insert(0, str(site))
import kernelgrade  # noqa: E402

race = source / "examples/check/race.cu"
faults = source / "tests/unit/perf/cli/check/programs/faults.cu"


class PythonApi(unittest.TestCase):
    def test_version(self):
        self.assertEqual(kernelgrade.version, "1.2.3")

    def test_race(self):
        findings = kernelgrade.check(race)
        finding = findings[0]
        self.assertEqual({(one.rule, one.fails) for one in findings}, {("race", True)})
        self.assertEqual([(Path(place.file).name, place.line) for place in finding.places], [("race.cu", 18), ("race.cu", 16)])
        self.assertIn("__syncthreads()", finding.hint)

    def test_options_reach_the_program(self):
        self.assertEqual(kernelgrade.check([race], define=["REPAIRED"], orders=["reverse"], compile_options=["-DOTHER=1"]), [])
        notes = kernelgrade.check(faults, arguments=["leak"])
        self.assertEqual({(one.rule, one.fails) for one in notes}, {("leak", False), ("unread", False)})

    def test_failed_program_is_not_a_clean_one(self):
        with self.assertRaises(kernelgrade.CheckFailed) as caught:
            kernelgrade.check(faults, arguments=["wrong"])
        self.assertIn("exit code 3", str(caught.exception))

    def test_wrong_argument(self):
        with self.assertRaisesRegex(kernelgrade.Error, "sideways: forward, reverse or random:SEED"):
            kernelgrade.check(race, orders=["sideways"])
        with self.assertRaisesRegex(kernelgrade.Error, "no such file"):
            kernelgrade.check("missing.cu")

    def test_missing_program(self):
        with self.assertRaisesRegex(FileNotFoundError, "install the wheel again"):
            kernelgrade.program("kernelgrade-nothing")

    def test_command(self):
        done = subprocess.run(
            [sys.executable, "-m", "kernelgrade", "check", race], env={**os.environ, "PYTHONPATH": str(site)}, capture_output=True, text=True
        )
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("[race]", done.stdout)

    @unittest.skipUnless((programs / "kernelgrade-try-counted").exists(), "the target try is not built")
    def test_verdict(self):
        candidate = source / "tests/unit/perf/cli/candidate/softmax.cu"
        verdict = kernelgrade.try_("softmax", candidate, dtypes=["f32"])
        self.assertTrue(verdict.passed)
        self.assertEqual({run.dtype for run in verdict.runs}, {"f32"})
        self.assertIn("checked", [run.how for run in verdict.runs])
        with self.assertRaisesRegex(kernelgrade.Error, "unknown operation softmaxx"):
            kernelgrade.try_("softmaxx", candidate)


try:
    result = unittest.main(argv=[sys.argv[0], *sys.argv[3:]], exit=False).result
finally:
    shutil.rmtree(site)
sys.exit(not result.wasSuccessful() or result.testsRun == 0)
