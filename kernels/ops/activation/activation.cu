// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// One read and one write per element. Bytes: 8 n (f32) or 4 n (f16, bf16). Expected on an H200:
// copy bandwidth, 4.2 to 4.4 TB/s, for all functions in f32. There a multiprocessor can issue 60
// instructions per element while memory delivers the next one; in f16 and bf16 half as many. For
// gelu, erfcf would take all of the former and twice the latter. The tail's polynomials
// (activation.h) take 27, or 20 in 16 bits.
//
// Each thread issues four 16-byte loads, two in f16 and bf16, before it uses the first: 64 or 32
// KiB in flight per multiprocessor, which needs 28 (see elementwise.cu). Why not __expf,
// tanh.approx and erf: in the tails they err by hundreds of units in the last place; in f16, by
// more than the rounding of the result. Why not `/`: it branches to a function for extreme
// exponents, which these denominators do not have.
#include "ops/activation/activation.h"

#include "primitives/map.h"
#include "runtime/error.h"
#include "runtime/launch.h"
#include "runtime/preconditions.h"

#include <algorithm>
#include <cstdint>
#include <string>

namespace kg::activation {

// Packs that a thread loads before it uses the first. Four packs of 16-bit elements would be 32
// results, too many for the registers of four blocks per multiprocessor.
template <class T>
constexpr int kPacks = sizeof(T) == sizeof(float) ? 4 : 2;

template <class T>
using Vectors = Arrays<T, 1, 1>; // x; y

template <Function function, class T>
struct Apply {
  __device__ void operator()(const T (&in)[1], T (&out)[1]) const {
    out[0] = from_float<T>(value<function, T>(to_float(in[0])));
  }
};

template <Function function, class T>
__global__ void __launch_bounds__(kMapThreads) naive(const T* x, T* y, std::int64_t n) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) y[i] = from_float<T>(value<function, T>(to_float(x[i])));
}

template <Function function, class T>
__global__ void __launch_bounds__(kMapThreads, kMapBlocksPerSm)
    vectorized(Vectors<T> vectors, std::int64_t n, int head) {
  map_aligned<kPacks<T>>(vectors, n, head, Apply<function, T>());
}

template <Function function, class T>
__global__ void __launch_bounds__(kMapThreads, kMapBlocksPerSm)
    misaligned(Vectors<T> vectors, std::int64_t n) {
  map_misaligned<kPacks<T>>(vectors, n, Apply<function, T>());
}

namespace {

template <Function function, class T>
void launch_variant(const T* x, T* y, std::int64_t n, Variant variant, Stream& stream) {
  if (variant == Variant::naive) {
    const unsigned grid = grid_x(div_up(n, kMapThreads),
                                 "activation: " + std::to_string(n) + " elements, one per thread,",
                                 "use Variant::vectorized");
    launch(naive<function, T>, {.grid = grid, .block = kMapThreads, .stream = &stream}, x, y, n);
    return;
  }
  const LaunchConfig config{
      .grid = map_grid<T, kPacks<T>>(n), .block = kMapThreads, .stream = &stream};
  const Vectors<T> vectors{{x}, {y}};
  const int head = common_head(vectors);
  if (head >= 0)
    launch(vectorized<function, T>, config, vectors, n,
           static_cast<int>(std::min<std::int64_t>(head, n)));
  else
    launch(misaligned<function, T>, config, vectors, n);
}

} // namespace

template <class T>
Variant run(Function function, const T* x, T* y, std::int64_t n, Variant variant, Stream& stream) {
  require_extent("activation: n", n);
  variant = resolved(variant);
  if (n == 0) return variant;
  require_elements("activation: x", x, n);
  require_elements("activation: y", y, n);
  switch (function) {
  case Function::relu: launch_variant<Function::relu>(x, y, n, variant, stream); break;
  case Function::sigmoid: launch_variant<Function::sigmoid>(x, y, n, variant, stream); break;
  case Function::tanh: launch_variant<Function::tanh>(x, y, n, variant, stream); break;
  case Function::gelu: launch_variant<Function::gelu>(x, y, n, variant, stream); break;
  case Function::gelu_tanh: launch_variant<Function::gelu_tanh>(x, y, n, variant, stream); break;
  case Function::silu: launch_variant<Function::silu>(x, y, n, variant, stream); break;
  }
  return variant;
}

template Variant run(Function, const float*, float*, std::int64_t, Variant, Stream&);
template Variant run(Function, const f16*, f16*, std::int64_t, Variant, Stream&);
template Variant run(Function, const bf16*, bf16*, std::int64_t, Variant, Stream&);

Work work(Dtype dtype, std::int64_t n) {
  const auto count = static_cast<double>(n);
  return {.bytes = 2 * count * static_cast<double>(size_of(dtype)),
          .written = count * static_cast<double>(size_of(dtype)),
          .flops = count};
}

} // namespace kg::activation
