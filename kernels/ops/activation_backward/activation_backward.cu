// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Two reads and one write per element. Bytes: 12 n (f32) or 6 n (f16, bf16). Expected on an H200:
// 4.2 to 4.4 TB/s in f32, as `elementwise`. In f16 and bf16 both gelus, at some 50 instructions per
// element, take about as long to compute as to move.
//
// Each thread issues four 16-byte loads, two in f16 and bf16, before it uses the first: 64 or 32
// KiB in flight per multiprocessor, which needs 28 (see elementwise.cu). Why not from y, which
// saves the exponential in sigmoid and tanh: y near 1 has lost the digits that f' = 1 - y^2 needs,
// and gelu's inverse is not unique.
#include "ops/activation_backward/activation_backward.h"

#include "primitives/activation_slope.h"
#include "primitives/map.h"
#include "runtime/error.h"
#include "runtime/launch.h"
#include "runtime/preconditions.h"

#include <algorithm>
#include <cstdint>
#include <string>

namespace kg::activation_backward {

// Packs per input that a thread loads before it uses the first; as many as registers permit.
template <class T>
constexpr int kPacksPerInput = sizeof(T) == sizeof(float) ? 2 : 1;

template <class T>
using Vectors = Arrays<T, 2, 1>; // x and dy; dx

template <Function function, class T>
struct Apply {
  __device__ void operator()(const T (&in)[2], T (&out)[1]) const {
    out[0] = from_float<T>(activation::gradient<function, T>(to_float(in[0]), to_float(in[1])));
  }
};

template <Function function, class T>
__global__ void __launch_bounds__(kMapThreads)
    naive(const T* x, const T* dy, T* dx, std::int64_t n) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n)
    dx[i] = from_float<T>(activation::gradient<function, T>(to_float(x[i]), to_float(dy[i])));
}

template <Function function, class T>
__global__ void __launch_bounds__(kMapThreads, kMapBlocksPerSm)
    vectorized(Vectors<T> vectors, std::int64_t n, int head) {
  map_aligned<kPacksPerInput<T>>(vectors, n, head, Apply<function, T>());
}

template <Function function, class T>
__global__ void __launch_bounds__(kMapThreads, kMapBlocksPerSm)
    misaligned(Vectors<T> vectors, std::int64_t n) {
  map_misaligned<kPacksPerInput<T>>(vectors, n, Apply<function, T>());
}

namespace {

template <Function function, class T>
void launch_variant(const T* x, const T* dy, T* dx, std::int64_t n, Variant variant,
                    Stream& stream) {
  if (variant == Variant::naive) {
    const unsigned grid =
        grid_x(div_up(n, kMapThreads),
               "activation_backward: " + std::to_string(n) + " elements, one per thread,",
               "use Variant::vectorized");
    launch(naive<function, T>, {.grid = grid, .block = kMapThreads, .stream = &stream}, x, dy, dx,
           n);
    return;
  }
  const LaunchConfig config{
      .grid = map_grid<T, kPacksPerInput<T>>(n), .block = kMapThreads, .stream = &stream};
  const Vectors<T> vectors{{x, dy}, {dx}};
  const int head = common_head(vectors);
  if (head >= 0)
    launch(vectorized<function, T>, config, vectors, n,
           static_cast<int>(std::min<std::int64_t>(head, n)));
  else
    launch(misaligned<function, T>, config, vectors, n);
}

template <class T>
void launch_function(Function function, const T* x, const T* dy, T* dx, std::int64_t n,
                     Variant variant, Stream& stream) {
  switch (function) {
  case Function::relu: return launch_variant<Function::relu>(x, dy, dx, n, variant, stream);
  case Function::sigmoid: return launch_variant<Function::sigmoid>(x, dy, dx, n, variant, stream);
  case Function::tanh: return launch_variant<Function::tanh>(x, dy, dx, n, variant, stream);
  case Function::gelu: return launch_variant<Function::gelu>(x, dy, dx, n, variant, stream);
  case Function::gelu_tanh:
    return launch_variant<Function::gelu_tanh>(x, dy, dx, n, variant, stream);
  case Function::silu: return launch_variant<Function::silu>(x, dy, dx, n, variant, stream);
  }
}

} // namespace

template <class T>
Variant run(Function function, const T* x, const T* dy, T* dx, std::int64_t n, Variant variant,
            Stream& stream) {
  require_extent("activation_backward: n", n);
  variant = resolved(variant);
  if (n == 0) return variant;
  require_elements("activation_backward: x", x, n);
  require_elements("activation_backward: dy", dy, n);
  require_elements("activation_backward: dx", dx, n);
  launch_function(function, x, dy, dx, n, variant, stream);
  return variant;
}

template Variant run(Function, const float*, const float*, float*, std::int64_t, Variant, Stream&);
template Variant run(Function, const f16*, const f16*, f16*, std::int64_t, Variant, Stream&);
template Variant run(Function, const bf16*, const bf16*, bf16*, std::int64_t, Variant, Stream&);

Work work(Dtype dtype, std::int64_t n) {
  const auto count = static_cast<double>(n);
  return {.bytes = 3 * count * static_cast<double>(size_of(dtype)),
          .written = count * static_cast<double>(size_of(dtype)),
          .flops = count};
}

} // namespace kg::activation_backward
