# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
"""`check` and `work` are for `kernelgrade peers`; `operations torch` lists what a framework has; `triton` writes PTX;
a model's name compares that model."""

import sys


def main() -> None:
    command, words = (sys.argv[1] if len(sys.argv) > 1 else ""), sys.argv[2:]
    if command == "check":
        from kernelgrade_peers import registry

        registry.main(words)
    elif command == "operations":
        from kernelgrade_peers import registry

        registry.list_operations(words)
    elif command == "work":
        from kernelgrade_peers import worker

        worker.main(words)
    elif command == "triton":
        from kernelgrade_peers import triton_kernels

        triton_kernels.main(words)
    else:
        from kernelgrade_peers import compare_models

        compare_models.main(sys.argv[1:])


if __name__ == "__main__":
    main()
