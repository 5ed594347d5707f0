#!/usr/bin/env python3
# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
"""The site's navigation (.ci/site.d/mkdocs.yml) has each page of docs/ once, and no other: python3 tests/docs/navigation.py"""

import re
import sys
from pathlib import Path

from page import root

NAVIGATION = ".ci/site.d/mkdocs.yml"


def check(source: Path) -> list[str]:
    _, begin, navigation = (source / NAVIGATION).read_text(encoding="utf-8").partition("\nnav:\n")
    if not begin:
        return [f"{NAVIGATION}: there is no `nav:`"]
    listed = re.findall(r"^ +- (?:[^:#\n]+: )?(\S+\.md)$", navigation, re.MULTILINE)
    pages = {path.relative_to(source / "docs").as_posix() for path in (source / "docs").rglob("*.md")}
    found = [f"docs/{name}: it is not in the navigation; add it to `nav` of {NAVIGATION}" for name in sorted(pages - set(listed))]
    found += [f"{NAVIGATION}: {name}: no such page in docs/; delete the line" for name in sorted(set(listed) - pages)]
    return found + [f"{NAVIGATION}: {name}: it is there {listed.count(name)} times; once is enough" for name in sorted(set(listed)) if listed.count(name) > 1]


def main() -> int:
    found = check(root())
    for line in found:
        print(line)
    print(f"{NAVIGATION}: {len(found)} findings")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
