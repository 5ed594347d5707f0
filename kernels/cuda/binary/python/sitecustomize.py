# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# Python runs this file at its start, because `kernelgrade emulate` puts its folder first in PYTHONPATH.
#
# It corrects modules that have no switch for it, directly after their import.
import sys
from importlib.machinery import PathFinder

FOLDER = __file__.rpartition("/")[0]


def call_emulated_runtime(module):
    """cuda.bindings.runtime contains a stripped copy of the CUDA runtime, which works only with NVIDIA's driver.

    Its functions are capsules, which cuda.bindings.cyruntime reads at its import. They get the addresses of the emulated
    libcudart.so.13. A function that it lacks stays NVIDIA's and fails.
    """
    import ctypes

    cudart = ctypes.CDLL("libcudart.so.13")
    set_pointer = ctypes.pythonapi.PyCapsule_SetPointer
    set_pointer.argtypes = [ctypes.py_object, ctypes.c_void_p]
    for name, capsule in getattr(module, "__pyx_capi__", {}).items():
        if hasattr(cudart, name[1:]):  # the capsule of cudaMalloc is _cudaMalloc
            set_pointer(capsule, ctypes.cast(getattr(cudart, name[1:]), ctypes.c_void_p))


def compile_to_ptx(module):
    """pycuda.compiler makes nvcc compile to machine code. The driver loads PTX in its place."""
    compile_plain = module.compile_plain

    def compile_plain_to_ptx(source, options, keep, nvcc, cache_dir, target="cubin"):
        return compile_plain(source, options, keep, nvcc, cache_dir, "ptx" if target == "cubin" else target)

    module.compile_plain = compile_plain_to_ptx


CORRECTIONS = {
    "cuda.bindings._internal.runtime": call_emulated_runtime,
    "cuda.bindings._internal.runtime_ptds": call_emulated_runtime,
    "pycuda.compiler": compile_to_ptx,
}


class Finder:
    """Finds the modules as Python does, and corrects them."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        correct = CORRECTIONS.get(name)
        spec = PathFinder.find_spec(name, path, target) if correct else None
        if spec and spec.loader:
            execute = spec.loader.exec_module

            def exec_module(module):
                execute(module)
                correct(module)

            spec.loader.exec_module = exec_module
        return spec


sys.meta_path.insert(0, Finder)

# This file hides another sitecustomize.
following = PathFinder.find_spec("sitecustomize", [folder for folder in sys.path if folder != FOLDER])
if following and following.loader:
    following.loader.exec_module(sys.modules[__name__])
