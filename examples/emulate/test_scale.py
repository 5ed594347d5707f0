# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# Tests a kernel through the driver API: `pytest --kernelgrade` runs it without a GPU (docs/how-to/emulate_from_python.md). The kernel lacks
# `if (i < n)`, so its three blocks of 128 threads access memory past 300 elements.
import ctypes

import pytest

PTX = b"""
.version 7.0
.target sm_80
.address_size 64
.visible .entry scale(.param .u64 x)
{
  .reg .b32 %r<5>;
  .reg .b64 %rd<5>;
  .reg .f32 %f<3>;
  ld.param.u64 %rd1, [x];
  cvta.to.global.u64 %rd2, %rd1;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.s32 %r4, %r1, %r2, %r3;
  mul.wide.s32 %rd3, %r4, 4;
  add.s64 %rd4, %rd2, %rd3;
  ld.global.f32 %f1, [%rd4];
  add.f32 %f2, %f1, %f1;
  st.global.f32 [%rd4], %f2;
  ret;
}
"""


class Gpu:
    """The first GPU. Each call of the driver that fails is an assertion that fails."""

    def __init__(self):
        self.driver = ctypes.CDLL("libcuda.so.1")
        context = ctypes.c_void_p()
        self.call("cuInit", 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
        self.call("cuCtxSetCurrent", context)

    def call(self, name, *arguments):
        assert getattr(self.driver, name)(*arguments) == 0, f"{name} failed"

    def launch(self, ptx, kernel, blocks, threads, array):
        """Runs a kernel whose one parameter is the address of the array."""
        module, function, address = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_uint64()
        size = ctypes.c_size_t(ctypes.sizeof(array))
        self.call("cuModuleLoadData", ctypes.byref(module), ptx)
        self.call("cuModuleGetFunction", ctypes.byref(function), module, kernel)
        self.call("cuMemAlloc_v2", ctypes.byref(address), size)
        self.call("cuMemcpyHtoD_v2", address, array, size)
        parameters = (ctypes.c_void_p * 1)(ctypes.addressof(address))
        self.call("cuLaunchKernel", function, blocks, 1, 1, threads, 1, 1, 0, None, parameters, None)
        self.call("cuMemcpyDtoH_v2", array, address, size)
        self.call("cuMemFree_v2", address)


@pytest.fixture
def gpu():
    return Gpu()


@pytest.mark.gpu
@pytest.mark.parametrize("n", [256, 300])
def test_scale(gpu, n):
    x = (ctypes.c_float * n)(*range(n))
    gpu.launch(PTX, b"scale", (n + 127) // 128, 128, x)
    assert list(x) == [2 * i for i in range(n)]
