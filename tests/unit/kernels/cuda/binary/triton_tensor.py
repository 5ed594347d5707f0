# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# What Triton takes as a tensor: an object with `dtype` and `data_ptr()`. PyTorch is not needed.
import ctypes
import sys

import numpy as np

cuda = ctypes.CDLL("libcuda.so.1")


def done(code):
    if code != 0:
        sys.exit(f"CUDA error {code}")


class Tensor:
    """A NumPy array's copy on the device. Triton's driver has made a context current before."""

    def __init__(self, array):
        self.host = np.ascontiguousarray(array)
        self.dtype, self.bytes, self.address = self.host.dtype, ctypes.c_size_t(self.host.nbytes), ctypes.c_uint64()
        done(cuda.cuMemAlloc_v2(ctypes.byref(self.address), self.bytes))
        done(cuda.cuMemcpyHtoD_v2(self.address, self.host.ctypes.data_as(ctypes.c_void_p), self.bytes))

    def data_ptr(self):
        return self.address.value

    def numpy(self):
        done(cuda.cuMemcpyDtoH_v2(self.host.ctypes.data_as(ctypes.c_void_p), self.address, self.bytes))
        return self.host

    def free(self):
        done(cuda.cuMemFree_v2(self.address))
