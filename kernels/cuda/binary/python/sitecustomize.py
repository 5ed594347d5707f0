# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# Python runs this file at its start, because `kernelgrade emulate` puts its folder first in PYTHONPATH.
#
# NVIDIA's module cuda.bindings.runtime contains a stripped copy of the CUDA runtime, which works only with NVIDIA's driver. Its
# functions are capsules of cuda.bindings._internal.runtime, which cuda.bindings.cyruntime reads when it is imported. Before that, the
# capsules get the addresses of the emulated libcudart.so.13. A function that it lacks stays NVIDIA's and fails.
import sys
from importlib.machinery import PathFinder

FOLDER = __file__.rpartition("/")[0]
MODULES = ("cuda.bindings._internal.runtime", "cuda.bindings._internal.runtime_ptds")


def replace_functions(capsules):
    import ctypes

    cudart = ctypes.CDLL("libcudart.so.13")
    name_of = ctypes.pythonapi.PyCapsule_GetName
    name_of.restype, name_of.argtypes = ctypes.c_void_p, [ctypes.py_object]
    set_pointer = ctypes.pythonapi.PyCapsule_SetPointer
    set_pointer.argtypes = [ctypes.py_object, ctypes.c_void_p]
    for name, capsule in capsules.items():
        if name_of(capsule) and hasattr(cudart, name[1:]):
            set_pointer(capsule, ctypes.cast(getattr(cudart, name[1:]), ctypes.c_void_p))


class Finder:
    """Finds the two modules as Python does, and replaces their functions after their import."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name not in MODULES:
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec and spec.loader:
            execute = spec.loader.exec_module

            def exec_module(module):
                execute(module)
                replace_functions(getattr(module, "__pyx_capi__", {}))

            spec.loader.exec_module = exec_module
        return spec


sys.meta_path.insert(0, Finder)

# This file hides another sitecustomize.
following = PathFinder.find_spec("sitecustomize", [folder for folder in sys.path if folder != FOLDER])
if following and following.loader:
    following.loader.exec_module(sys.modules[__name__])
