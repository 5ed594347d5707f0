#!/usr/bin/env python3
# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
"""docs/reference/file_formats.md names the columns and members that files have, and no others: python3 tests/docs/formats.py

Those of timing baselines, and of the JSON of `try` and `check` (docs/schemas).
"""

import json
import re
import sys
from pathlib import Path

from configuration import first_cells, section
from page import root

PAGE = "docs/reference/file_formats.md"
TIMINGS = "baselines/host/gemm.csv"
SCHEMAS = {"Verdict of `try`": "docs/schemas/try-1.json", "Findings of `check`": "docs/schemas/check-1.json"}


def members(schema: dict, prefix: str = "") -> set[str]:
    """Of all levels, as op, runs[].dtype and resources.arch."""
    found = set()
    for name, value in schema.get("properties", {}).items():
        found |= {prefix + name} | members(value, f"{prefix}{name}.")
        if isinstance(value.get("items"), dict):
            found |= members(value["items"], f"{prefix}{name}[].")
    return found


def named(text: str) -> set[str]:
    """In the table of a section: a first cell is a member. A code span of the second is one of the last member in the first, if it
    has members; otherwise it explains."""
    found = set()
    for first, second in re.findall(r"^\| (`[^|]*) \| ([^|]*) \|$", text, re.MULTILINE):
        owners = re.findall(r"`([^`]+)`", first)
        found |= set(owners)
        for inner in re.findall(r"`(\w+)`", second):
            found |= {f"{owner}{link}{inner}" for owner in owners[-1:] for link in ("[].", ".")}
    return found


def check(source: Path) -> list[str]:
    page = (source / PAGE).read_text(encoding="utf-8")
    header = (source / TIMINGS).read_text(encoding="utf-8").split("\n", 1)[0].split(",")
    table = section(page, "Baselines", PAGE).partition("Columns of a timing file:")[2].partition("A cost file")[0]
    there = [("column", TIMINGS, set(header), first_cells(table), first_cells(table))]
    for heading, schema in SCHEMAS.items():
        text = section(page, heading, PAGE)
        there.append(("member", schema, members(json.loads((source / schema).read_text(encoding="utf-8"))), named(text), first_cells(text)))
    found = []
    for kind, file, names, explained, listed in there:
        found += [f"{PAGE}: the {kind} `{name}` of {file} is missing; add it" for name in sorted(names - explained)]
        found += [f"{PAGE}: {file} has no {kind} `{name}`; delete it" for name in sorted(listed - names)]
    return found


def main() -> int:
    try:
        found = check(root())
    except (OSError, ValueError) as error:
        found = [str(error)]
    for line in found:
        print(line)
    print(f"{PAGE}: {len(found)} findings")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
