#!/usr/bin/env python3
# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
"""Pictures of the report show the report of today: python3 tests/docs/pictures.py.

docs/images/made_from.txt names what .ci/pictures rendered: the page's sources and the number of operations.
"""

import argparse
import hashlib
import re
import sys
from pathlib import Path

from page import root

STAMP = "docs/images/made_from.txt"


def made_from(source: Path) -> str:
    digest = hashlib.sha256()
    for path in sorted((source / "perf/report/page").iterdir()):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    operations = re.findall(r"^kernelgrade_add_op\(", (source / "CMakeLists.txt").read_text(encoding="utf-8"), re.MULTILINE)
    return f"perf/report/page {digest.hexdigest()}\noperations {len(operations)}\n"


def check(source: Path) -> list[str]:
    """A line for each part that is not what the pictures were made from."""
    stamped = (source / STAMP).read_text(encoding="utf-8").splitlines()
    now = made_from(source).splitlines()
    return [f"{STAMP}: '{line}' is not what the pictures show; run ./grade and .ci/pictures" for line in now if line not in stamped]


def main() -> int:
    parser = argparse.ArgumentParser(description="Compares what the documentation's pictures were made from with what is there.")
    parser.add_argument("--source", type=Path, default=root(), help="the project's root")
    parser.add_argument("--write", action="store_true", help="write what is there: .ci/pictures does so")
    options = parser.parse_args()
    if options.write:
        (options.source / STAMP).write_text(made_from(options.source), encoding="utf-8")
    found = check(options.source)
    print("\n".join([*found, f"{STAMP}: {len(found)} findings"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
