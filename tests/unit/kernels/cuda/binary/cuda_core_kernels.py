# Copyright The Kernelgrade Authors
# SPDX-License-Identifier: Apache-2.0
#
# cuda_core_kernels.py [WRONG]: programs as the examples of cuda.core have them, with NumPy instead of CuPy, for `kernelgrade emulate -- python3`:
# an addition compiled by NVRTC to machine code, templates on a strided memory view, a graph with a fork, timed by events, and memory
# of all kinds. WRONG is `beyond`, an addition of one element too many, or `barrier`, a sum without a barrier.
import sys

import numpy as np
from cuda.bindings import runtime
from cuda.core import (Device, EventOptions, LaunchConfig, LegacyPinnedMemoryResource, ManagedMemoryResource, PinnedMemoryResource, Program,
                       ProgramOptions, launch)
from cuda.core.graph import GraphBuilder
from cuda.core.utils import StridedMemoryView, args_viewable_as_strided_memory

WRONG = sys.argv[1] if len(sys.argv) > 1 else ""
CODE = r"""
template <class T> __global__ void vector_add(const T* a, const T* b, T* c, size_t n) {
  for (size_t i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += gridDim.x * blockDim.x) c[i] = a[i] + b[i];
}
template <class T> __global__ void saxpy(T a, const T* x, T* y, size_t n) {
  for (size_t i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += gridDim.x * blockDim.x) y[i] = a * x[i] + y[i];
}
__global__ void block_sum(const float* data, float* out) {
  __shared__ float shared[128];
  const int i = threadIdx.x;
  shared[i] = data[i];
  BARRIER
  for (int half = 64; half > 0; half /= 2) {
    if (i < half) shared[i] += shared[i + half];
    __syncthreads();
  }
  if (i == 0) *out = shared[0];
}"""

device = Device()
device.set_current()
stream = device.create_stream()
pinned = LegacyPinnedMemoryResource()
random = np.random.default_rng(0)


def pinned_array(values):
    """A buffer that the host and the device share, and its NumPy array."""
    buffer = pinned.allocate(values.nbytes)
    array = np.from_dlpack(buffer).view(values.dtype)
    array[:] = values
    return buffer, array


def on_device(buffer):
    made = device.memory_resource.allocate(buffer.size, stream=stream)
    buffer.copy_to(made, stream=stream)
    return made


def configuration(size, block=256):
    return LaunchConfig(grid=(size + block - 1) // block, block=block)


options = ProgramOptions(std="c++17", arch=f"sm_{device.arch}", lineinfo=True, define_macro=("BARRIER", "" if WRONG == "barrier" else "__syncthreads();"))
program = Program(CODE, code_type="c++", options=options)
names = ("vector_add<float>", "saxpy<float>", "saxpy<double>", "block_sum")
module = program.compile("cubin", name_expressions=names)
add, saxpy_float, saxpy_double, block_sum = (module.get_kernel(name) for name in names)

# An addition in memory of the device.
size = 50000
host_a, a = pinned_array(random.random(size, np.float32))
host_b, b = pinned_array(random.random(size, np.float32))
host_c, c = pinned_array(np.zeros(size, np.float32))
device_a, device_b, device_c = (on_device(buffer) for buffer in (host_a, host_b, host_c))
launch(stream, configuration(size), add, device_a, device_b, device_c, np.uint64(size + (WRONG == "beyond")))
device_c.copy_to(host_c, stream=stream)
stream.sync()
right = {"add": np.array_equal(c, a + b)}


# Templates, and a strided memory view of what comes from DLPack.
@args_viewable_as_strided_memory((0,))
def scale_and_add(y, kernel, factor, x):
    view = y.view(stream.handle)
    assert isinstance(view, StridedMemoryView) and view.is_device_accessible
    elements = view.shape[0] * view.dtype.itemsize // factor.dtype.itemsize
    launch(stream, configuration(elements, 64), kernel, factor, x, view.ptr, np.uint64(elements))
    stream.sync()


right["saxpy"] = True
for kernel, dtype in ((saxpy_float, np.float32), (saxpy_double, np.float64)):
    (buffer_x, x), (buffer_y, y) = pinned_array(random.random(1000).astype(dtype)), pinned_array(random.random(1000).astype(dtype))
    before = y.copy()
    scale_and_add(buffer_y, kernel, dtype(10), buffer_x)
    right["saxpy"] &= np.allclose(y, 10 * x + before, rtol=1e-6)

# At most three roundings of positive numbers: a relative difference below 2e-7.
# A graph: d = a + b and e = 10 * a + e at the same time, then d = d + e; launched twice.
(buffer_d, d), (buffer_e, e) = pinned_array(np.zeros(size, np.float32)), pinned_array(b)
builder = device.create_graph_builder().begin_building()
left, other = builder.split(2)
launch(left, configuration(size), add, device_a, device_b, buffer_d, np.uint64(size))
launch(other, configuration(size), saxpy_float, np.float32(10), device_a, buffer_e, np.uint64(size))
joined = GraphBuilder.join(left, other)
launch(joined, configuration(size), add, buffer_d, buffer_e, buffer_d, np.uint64(size))
graph = joined.end_building().complete()
graph.upload(stream)
timed = EventOptions(timing_enabled=True)
start = stream.record(options=timed)
for _ in range(2):
    graph.launch(stream)
end = stream.record(options=timed)
end.sync()
right["graph"] = np.allclose(d, a + b + (20 * a + b), rtol=1e-6) and end - start > 0

# A sum in shared memory. Its data are in each kind of memory, and its result comes by the runtime API.
data = random.random(128, np.float32)
host_data, _ = pinned_array(data)
right["sum"] = True
for resource in (device.memory_resource, ManagedMemoryResource(), PinnedMemoryResource()):
    source, result = resource.allocate(data.nbytes, stream=stream), resource.allocate(4, stream=stream)
    host_data.copy_to(source, stream=stream)
    launch(stream, LaunchConfig(grid=1, block=128), block_sum, source, result)
    stream.sync()
    total = np.zeros(1, np.float32)
    (error,) = runtime.cudaMemcpy(total.ctypes.data, int(result.handle), 4, runtime.cudaMemcpyKind.cudaMemcpyDeviceToHost)
    right["sum"] &= error == runtime.cudaError_t.cudaSuccess and np.allclose(total[0], data.sum(), rtol=1e-5)
    source.close(stream)
    result.close(stream)

device.sync()
print("right" if all(right.values()) else f"wrong: {right}")
