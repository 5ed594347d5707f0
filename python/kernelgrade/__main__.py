# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
"""The command `kernelgrade`: the program of that name."""

import os
import sys

from kernelgrade._api import program


def main() -> None:
    path = program("kernelgrade")
    os.execv(path, [str(path), *sys.argv[1:]])


if __name__ == "__main__":
    main()
