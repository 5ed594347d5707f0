#!/usr/bin/env python3
# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
"""docs/reference/test_functions.md names the functions of the headers that it names: python3 tests/docs/test_functions.py

A section is about the header that it begins with ("Header: `tests/oracle/fills.h`"). A table names no function that the header lacks and, unless
the section says "It has more", all that it declares.
"""

import re
import sys
from pathlib import Path

from page import root

PAGE = "docs/reference/test_functions.md"
DECLARATION = re.compile(r"^(?:inline |constexpr )*(?!return\b|using\b|struct\b)[A-Za-z_][\w:]*(?:<[^;{}()]*>)?[ \n&*]+(\w+)\(", re.MULTILINE)


def declared(header: str) -> set[str]:
    """The functions at the beginning of a line."""
    return set(DECLARATION.findall(re.sub(r"//.*", "", header)))


def check(page: str, headers: dict[str, str]) -> list[str]:
    found = []
    sections = re.split(r"^## ", page, flags=re.MULTILINE)[1:]
    for section in sections:
        named = re.search(r"^Header: `(\S+)`", section, re.MULTILINE)
        if not named or named.group(1) not in headers:
            found.append(f"{PAGE}: section {section.splitlines()[0]}: begin it with an existing header: Header: `tests/oracle/NAME.h`")
            continue
        rows = re.findall(r"^\| (`[^|]*`) \|", section, re.MULTILINE)
        listed = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
        there = declared(headers[named.group(1)])
        found += [f"{PAGE}: {name}: {named.group(1)} declares no such function; delete it" for name in sorted(listed - there)]
        if "It has more" not in section:
            found += [f"{PAGE}: {name} of {named.group(1)} is missing; add a row" for name in sorted(there - listed)]
    return found if sections else [f"{PAGE}: it has no sections"]


def main() -> int:
    source = root()
    headers = {path.relative_to(source).as_posix(): path.read_text(encoding="utf-8") for path in sorted((source / "tests/oracle").glob("*.h"))}
    found = check((source / PAGE).read_text(encoding="utf-8"), headers)
    print("\n".join([*found, f"{PAGE}: {len(found)} findings"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
