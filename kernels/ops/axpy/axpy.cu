// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The traffic of `elementwise`: two reads and one write per element, with negligible arithmetic.
// Bytes: 12 n (f32) or 6 n (f16, bf16); flops: 2 n. Expected on an H200: 4.2 to 4.4 TB/s, like any
// transform with twice as many reads as writes, once the arrays are far larger than L2. Each thread
// has four 16-byte loads in flight (elementwise.cu says why that is enough).
//
// Why no special path for alpha = 0 or 1: the bytes are the same except for alpha = 0, where the
// shortcut would lose the NaNs of x. Why fmaf and not alpha * x + y: one instruction, and the same
// bits whatever a compiler chooses to contract.
#include "ops/axpy/axpy.h"

#include "primitives/map.h"
#include "runtime/error.h"
#include "runtime/launch.h"
#include "runtime/preconditions.h"

#include <algorithm>
#include <cstdint>
#include <string>

namespace kg::axpy {

constexpr int kPacksPerInput = 2; // loaded per thread before the first use

template <class T>
using Vectors = Arrays<T, 2, 1>; // x and y; out

template <class T>
struct MultiplyAdd {
  float alpha;
  __device__ void operator()(const T (&in)[2], T (&out)[1]) const {
    out[0] = from_float<T>(fmaf(alpha, to_float(in[0]), to_float(in[1])));
  }
};

template <class T>
__global__ void __launch_bounds__(kMapThreads)
    naive(float alpha, const T* x, const T* y, T* out, std::int64_t n) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) out[i] = from_float<T>(fmaf(alpha, to_float(x[i]), to_float(y[i])));
}

template <class T>
__global__ void __launch_bounds__(kMapThreads, kMapBlocksPerSm)
    vectorized(float alpha, Vectors<T> vectors, std::int64_t n, int head) {
  map_aligned<kPacksPerInput>(vectors, n, head, MultiplyAdd<T>{alpha});
}

template <class T>
__global__ void __launch_bounds__(kMapThreads, kMapBlocksPerSm)
    misaligned(float alpha, Vectors<T> vectors, std::int64_t n) {
  map_misaligned<kPacksPerInput>(vectors, n, MultiplyAdd<T>{alpha});
}

namespace {

template <class T>
void launch_variant(float alpha, const T* x, const T* y, T* out, std::int64_t n, Variant variant,
                    Stream& stream) {
  if (variant == Variant::naive) {
    const unsigned grid =
        grid_x(div_up(n, kMapThreads), "axpy: " + std::to_string(n) + " elements, one per thread,",
               "use Variant::vectorized");
    launch(naive<T>, {.grid = grid, .block = kMapThreads, .stream = &stream}, alpha, x, y, out, n);
    return;
  }
  const LaunchConfig config{
      .grid = map_grid<T, kPacksPerInput>(n), .block = kMapThreads, .stream = &stream};
  const Vectors<T> vectors{{x, y}, {out}};
  const int head = common_head(vectors);
  if (head >= 0)
    launch(vectorized<T>, config, alpha, vectors, n,
           static_cast<int>(std::min<std::int64_t>(head, n)));
  else
    launch(misaligned<T>, config, alpha, vectors, n);
}

} // namespace

template <class T>
Variant run(float alpha, const T* x, const T* y, T* out, std::int64_t n, Variant variant,
            Stream& stream) {
  require_extent("axpy: n", n);
  variant = resolved(variant);
  if (n == 0) return variant;
  require_elements("axpy: x", x, n);
  require_elements("axpy: y", y, n);
  require_elements("axpy: out", out, n);
  const std::int64_t bytes = n * static_cast<std::int64_t>(sizeof(T));
  require_same_or_apart("axpy: x", x, "out", out, bytes);
  require_same_or_apart("axpy: y", y, "out", out, bytes);
  launch_variant(alpha, x, y, out, n, variant, stream);
  return variant;
}

template Variant run(float, const float*, const float*, float*, std::int64_t, Variant, Stream&);
template Variant run(float, const f16*, const f16*, f16*, std::int64_t, Variant, Stream&);
template Variant run(float, const bf16*, const bf16*, bf16*, std::int64_t, Variant, Stream&);

Work work(Dtype dtype, std::int64_t n) {
  const auto count = static_cast<double>(n);
  return {.bytes = 3 * count * static_cast<double>(size_of(dtype)),
          .written = count * static_cast<double>(size_of(dtype)),
          .flops = 2 * count};
}

} // namespace kg::axpy
