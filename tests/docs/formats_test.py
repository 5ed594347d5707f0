# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
"""formats.py sees a column or a member that the page lacks, and one that no file has."""

import json
import tempfile
import unittest
from pathlib import Path

import formats

PAGE = """# File formats

## Baselines

| file | holds |
|---|---|
| `a.csv` | timings |

Columns of a timing file:

| column | meaning |
|---|---|
| `schema` | version |
| `case`, `variant` | the measurement |

A cost file has others.

## Verdict of `try`

| member | meaning |
|---|---|
| `passed` | the verdict |
| `runs` | `dtype` and `tests` |
| `runs[].tests` | `name` |

## Findings of `check`

| member | meaning |
|---|---|
| `costs` | the text of `--costs` |
"""


def schema(**properties):
    return {"properties": properties}


TRY = schema(passed={}, runs={"items": schema(dtype={}, tests={"items": schema(name={})})})


class Formats(unittest.TestCase):
    def check(self, page=PAGE, columns="schema,case,variant", verdict=TRY):
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder)
            check = json.dumps(schema(costs={}))
            files = {formats.PAGE: page, formats.TIMINGS: columns + "\n1,a,b\n", "docs/schemas/try-1.json": json.dumps(verdict), "docs/schemas/check-1.json": check}
            for name, text in files.items():
                (source / name).parent.mkdir(parents=True, exist_ok=True)
                (source / name).write_text(text)
            return formats.check(source)

    def test_the_same_names_are_good(self):
        self.assertEqual(self.check(), [])

    def test_what_the_page_lacks_is_found(self):
        self.assertIn("the column `why` of baselines/host/gemm.csv is missing", self.check(columns="schema,case,variant,why")[0])
        (found,) = self.check(PAGE.replace(" | `name` |", " | text |"))
        self.assertIn("the member `runs[].tests[].name` of docs/schemas/try-1.json is missing", found)

    def test_what_no_file_has_is_found(self):
        self.assertIn("baselines/host/gemm.csv has no column `variant`", self.check(columns="schema,case")[0])
        (found,) = self.check(PAGE.replace("| `passed` |", "| `passed`, `op` |"))
        self.assertIn("docs/schemas/try-1.json has no member `op`", found)

    def test_a_section_that_is_gone_is_found(self):
        with self.assertRaisesRegex(ValueError, "file_formats.md has no section 'Verdict of `try`'"):
            self.check(PAGE.replace("## Verdict of", "## About"))


if __name__ == "__main__":
    unittest.main()
