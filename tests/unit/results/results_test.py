# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
"""results_test.py: .ci/results with one GPU and with two, whose results never mix."""

import csv
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
CASE = "axpy.f32.n16"
COLUMNS = ("schema,case,variant,mode,median_ns,ci_lo_ns,ci_hi_ns,process_medians_ns,canary,tol_pct,"
           "status,bytes,flops,identity,why").split(",")


class Results(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name)
        for path in (".ci/results", "perf/judge/bands.h"):
            (self.root / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / path, self.root / path)
        self.pages = self.root / "docs/results"
        self.minima = self.root / "minima"
        self.minima.write_text(f"#!/bin/sh\necho '{CASE}  memory  5000  vectorized'\n"
                               "echo 'copy.f32.n16  memory  1000  vectorized'\n")
        self.minima.chmod(0o755)
        self.add_gpu("nvidia-h200", 10000)

    def add_gpu(self, name, ns):
        folder = self.root / "baselines" / name
        folder.mkdir(parents=True)
        (folder / "device.json").write_text('{"ceilings": {}}')
        (folder / "visits.csv").write_text("commit,date,driver\n0123456789ab,2026-01-01,580\n")
        (folder / "done.csv").write_text("visit,unit,commit\nblessed,axpy.f32.cold,0123456789ab\n")
        with open(folder / "axpy.csv", "w", encoding="utf-8", newline="") as file:
            rows = csv.DictWriter(file, COLUMNS)
            rows.writeheader()
            for variant, time, identity in (("vectorized", ns, "0" * 32), ("cublas", 2 * ns, "13")):
                rows.writerow(dict.fromkeys(COLUMNS, "") | {
                    "case": CASE, "variant": variant, "mode": "cold", "median_ns": time,
                    "process_medians_ns": time, "identity": identity})

    def run_results(self, *options):
        return subprocess.run([sys.executable, self.root / ".ci/results", self.minima, *options],
                              capture_output=True, text=True, check=False)

    def rows(self, page):
        lines = (self.pages / page).read_text(encoding="utf-8").splitlines()
        return [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines
                if line.startswith(("| axpy", "| copy"))]

    def test_one_gpu_has_its_page_alone(self):
        self.assertEqual(self.run_results("--rewrite").returncode, 0)
        self.assertEqual(sorted(path.name for path in self.pages.iterdir()), ["h200.md", "h200.svg"])
        self.assertEqual(self.run_results().returncode, 0)

    def test_two_gpus_stand_side_by_side_and_never_mix(self):
        self.run_results("--rewrite")
        alone = (self.pages / "h200.md").read_text(encoding="utf-8")
        self.add_gpu("nvidia-h100", 20000)
        stale = self.run_results()
        self.assertEqual(stale.returncode, 1)
        self.assertIn("docs/results/side_by_side.md", stale.stderr)
        self.assertEqual(self.run_results("--rewrite").returncode, 0)
        self.assertEqual((self.pages / "h200.md").read_text(encoding="utf-8"), alone)
        self.assertEqual(self.rows("side_by_side.md"), [
            [CASE, "vectorized", "vectorized", "20", "10", "25", "50", "2.00", "2.00"],
            ["copy.f32.n16", *[""] * 8]])
        self.assertEqual(self.rows("h100.md")[0][:3], [CASE, "vectorized", "20"])
        self.assertEqual(self.run_results().returncode, 0)


if __name__ == "__main__":
    unittest.main()
