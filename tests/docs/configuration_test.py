# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
"""configuration.py sees what the page lacks, and what the sources lack."""

import tempfile
import unittest
from pathlib import Path

import configuration

PAGE = """# Configuration

## Environment variables

| variable | effect |
|---|---|
| `KERNELGRADE_SEED=5` | seeds |

`KERNELGRADE_TURN` is internal.

## CMake options

| option | default |
|---|---|
| `KERNELGRADE_OPS` | all |
| `KERNELGRADE_FUZZ` | off |
| `CUDNN_ROOT` | - |

## Presets

| preset | build |
|---|---|
| `host` | g++ |

## Targets

| target | builds |
|---|---|
| `grade`, `grade_<op>` | what `./grade` needs |
| `kernelgrade-cost` | costs |

## Test labels

| label | tests |
|---|---|
| `unit` | all |
| `nightly` | slow |
"""
SOURCES = {
    "kernels/seed.cpp": 'a = std::getenv("KERNELGRADE_SEED"); setenv("KERNELGRADE_NOT_READ", "1", 1);\n',
    "perf/turns.h": 'inline constexpr const char* kTurnVariable = "KERNELGRADE_TURN";\n',
    "cmake/Op.cmake": 'set(KERNELGRADE_OPS "" CACHE STRING "")\nset(KERNELGRADE_INNER x)\n  add_custom_target(grade_${op} DEPENDS x)\nadd_custom_target(grade)\n',
    "tests/fuzz/CMakeLists.txt": 'option(KERNELGRADE_FUZZ "" OFF)\nkernelgrade_cost_program(kernelgrade-cost)\nadd_custom_target(sass_test_files)\n',
    "tests/house/labels.cmake": "set(tiers unit nightly)\n",
    "CMakePresets.json": '{"configurePresets": [{"name": "base", "hidden": true}, {"name": "host"}]}',
}


class Configuration(unittest.TestCase):
    def check(self, page=PAGE, **changed):
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder)
            for name, text in (SOURCES | changed | {configuration.PAGE: page}).items():
                (source / name).parent.mkdir(parents=True, exist_ok=True)
                (source / name).write_text(text)
            return configuration.check(source)

    def test_the_same_names_are_good(self):
        self.assertEqual(self.check(), [])

    def test_what_the_page_lacks_is_found(self):
        for line, finding in [
            ("| `KERNELGRADE_SEED=5` | seeds |\n", "the variable `KERNELGRADE_SEED` is missing"),
            ("`KERNELGRADE_TURN` is internal.\n", "the variable `KERNELGRADE_TURN` is missing"),
            ("| `KERNELGRADE_FUZZ` | off |\n", "the CMake option `KERNELGRADE_FUZZ` is missing"),
            ("| `host` | g++ |\n", "the preset `host` is missing"),
            (", `grade_<op>`", "the target `grade_<op>` is missing"),
            ("| `nightly` | slow |\n", "the label `nightly` is missing"),
        ]:
            with self.subTest(line):
                (found,) = self.check(PAGE.replace(line, ""))
                self.assertIn(finding, found)

    def test_what_the_sources_lack_is_found(self):
        for line in ("| `KERNELGRADE_SEED=5`", "| `KERNELGRADE_OPS`", "| `host`", "| `kernelgrade-cost`", "| `unit`"):
            with self.subTest(line):
                (found,) = self.check(PAGE.replace(line, line.replace("`", "`KERNELGRADE_GONE`, `", 1)))
                self.assertIn("`KERNELGRADE_GONE`; delete it", found)

    def test_sources_without_a_match_are_found(self):
        with self.assertRaisesRegex(ValueError, "has what looks like"):
            self.check(**{"kernels/seed.cpp": "", "perf/turns.h": ""})
        with self.assertRaisesRegex(ValueError, "no section 'Presets'"):
            self.check(PAGE.replace("## Presets", "## Others"))


if __name__ == "__main__":
    unittest.main()
