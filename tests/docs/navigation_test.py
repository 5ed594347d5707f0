# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
"""navigation.py sees a page that the site lacks."""

import tempfile
import unittest
from pathlib import Path

import navigation


class Navigation(unittest.TestCase):
    def check(self, pages, listed):
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder)
            for page in pages:
                (source / "docs" / page).parent.mkdir(parents=True, exist_ok=True)
                (source / "docs" / page).write_text("# Page\n")
            (source / navigation.NAVIGATION).parent.mkdir(parents=True)
            (source / navigation.NAVIGATION).write_text("site_name: x\n" + listed)
            return navigation.check(source)

    def test_every_page_once_is_good(self):
        self.assertEqual(self.check(["README.md", "how-to/a.md"], "nav:\n  - Home: README.md\n  - How to:\n      - how-to/a.md\n"), [])

    def test_a_page_that_is_not_listed_is_found(self):
        (found,) = self.check(["README.md", "how-to/a.md"], "nav:\n  - Home: README.md\n")
        self.assertEqual(found, "docs/how-to/a.md: it is not in the navigation; add it to `nav` of .ci/site.d/mkdocs.yml")

    def test_a_page_that_is_gone_or_twice_is_found(self):
        gone, twice = self.check(["README.md"], "nav:\n  - Home: README.md\n  - Again: README.md\n  - Gone: gone.md\n")
        self.assertIn("gone.md: no such page", gone)
        self.assertIn("README.md: it is there 2 times", twice)

    def test_no_navigation_is_found(self):
        self.assertIn("there is no `nav:`", self.check(["README.md"], "theme: x\n")[0])


if __name__ == "__main__":
    unittest.main()
