#!/usr/bin/env python3
# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
"""pictures.py on a small tree."""

import tempfile
import unittest
from pathlib import Path

import pictures


class Pictures(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.source = Path(folder.name)
        (self.source / "perf/report/page").mkdir(parents=True)
        (self.source / "docs/images").mkdir(parents=True)
        (self.source / "perf/report/page/app.js").write_text("one")
        (self.source / "CMakeLists.txt").write_text("kernelgrade_add_op(axpy)\nkernelgrade_add_op(scan\n  SOURCES scan.cu)\n")
        (self.source / pictures.STAMP).write_text(pictures.made_from(self.source))

    def test_what_they_were_made_from_passes(self):
        self.assertEqual(pictures.check(self.source), [])
        self.assertIn("operations 2\n", pictures.made_from(self.source))

    def test_another_page_and_another_operation_are_named(self):
        (self.source / "perf/report/page/app.js").write_text("two")
        (self.source / "CMakeLists.txt").write_text("kernelgrade_add_op(axpy)\n")
        found = pictures.check(self.source)
        self.assertEqual(len(found), 2)
        self.assertIn("'operations 1' is not what the pictures show; run ./grade and .ci/pictures", found[1])


if __name__ == "__main__":
    unittest.main()
