# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
"""Checks CUDA programs and judges CUDA kernels on a CPU emulator. Needs g++, and neither nvcc nor a GPU.

>>> import kernelgrade
>>> for finding in kernelgrade.check("race.cu"):
...     print(finding.rule, finding.places[0])
"""

from kernelgrade._api import (
    CheckFailed,
    Error,
    Finding,
    Place,
    Run,
    Verdict,
    check,
    program,
    try_,
    version,
)

__version__ = version
__all__ = ["CheckFailed", "Error", "Finding", "Place", "Run", "Verdict", "check", "program", "try_", "version"]
