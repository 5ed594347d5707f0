// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Three reads and two writes per element. Bytes: 20 n (f32) or 10 n (f16, bf16); flops: 2 n (mul)
// or 3 n (div). Expected on an H200: the bandwidth of other mixed streams, 4.1 to 4.4 TB/s. A
// kernel per gradient would read dy and b twice: 24 n or 28 n bytes.
//
// Each thread issues three 16-byte loads before it uses the first, so the 1024 threads of a
// multiprocessor have 48 KiB in flight (elementwise.cu says how much is enough). Twice as many do
// not fit the registers for 16-bit types. In f32, divisions take about 20 instructions per element,
// which 20 bytes of traffic hide.
#include "ops/elementwise_backward/elementwise_backward.h"

#include "primitives/map.h"
#include "runtime/error.h"
#include "runtime/launch.h"
#include "runtime/preconditions.h"

#include <algorithm>
#include <cstdint>
#include <string>

namespace kg::elementwise_backward {

constexpr int kPacksPerInput = 1; // loaded per thread before the first use

template <class T>
using Vectors = Arrays<T, 3, 2>; // dy, a, b; da, db

template <Op op, class T>
struct Gradients {
  __device__ void operator()(const T (&in)[3], T (&out)[2]) const {
    const float dy = to_float(in[0]);
    const float a = to_float(in[1]);
    const float b = to_float(in[2]);
    if constexpr (op == Op::mul) {
      out[0] = from_float<T>(dy * b);
      out[1] = from_float<T>(dy * a);
    } else {
      const float share = dy / b;
      out[0] = from_float<T>(share);
      out[1] = from_float<T>(-share * (a / b));
    }
  }
};

template <Op op, class T>
__global__ void __launch_bounds__(kMapThreads) naive(Vectors<T> vectors, std::int64_t n) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) map_element(vectors, i, Gradients<op, T>());
}

template <Op op, class T>
__global__ void __launch_bounds__(kMapThreads, kMapBlocksPerSm)
    vectorized(Vectors<T> vectors, std::int64_t n, int head) {
  map_aligned<kPacksPerInput>(vectors, n, head, Gradients<op, T>());
}

template <Op op, class T>
__global__ void __launch_bounds__(kMapThreads, kMapBlocksPerSm)
    misaligned(Vectors<T> vectors, std::int64_t n) {
  map_misaligned<kPacksPerInput>(vectors, n, Gradients<op, T>());
}

namespace {

template <Op op, class T>
void launch_variant(const Vectors<T>& vectors, std::int64_t n, Variant variant, Stream& stream) {
  if (variant == Variant::naive) {
    const unsigned grid =
        grid_x(div_up(n, kMapThreads),
               "elementwise_backward: " + std::to_string(n) + " elements, one per thread,",
               "use Variant::vectorized");
    launch(naive<op, T>, {.grid = grid, .block = kMapThreads, .stream = &stream}, vectors, n);
    return;
  }
  const LaunchConfig config{
      .grid = map_grid<T, kPacksPerInput>(n), .block = kMapThreads, .stream = &stream};
  const int head = common_head(vectors);
  if (head >= 0)
    launch(vectorized<op, T>, config, vectors, n,
           static_cast<int>(std::min<std::int64_t>(head, n)));
  else
    launch(misaligned<op, T>, config, vectors, n);
}

template <class T>
void require_arrays(const Vectors<T>& vectors, std::int64_t n) {
  const std::string inputs[] = {"dy", "a", "b"};
  const std::string outputs[] = {"da", "db"};
  const std::string op = "elementwise_backward: ";
  const std::int64_t bytes = n * static_cast<std::int64_t>(sizeof(T));
  for (int k = 0; k < 3; ++k) require_elements(op + inputs[k], vectors.in[k], n);
  for (int k = 0; k < 2; ++k) require_elements(op + outputs[k], vectors.out[k], n);
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 2; ++k)
      require_same_or_apart(op + inputs[i], vectors.in[i], outputs[k], vectors.out[k], bytes);
  require_apart(op + "da", vectors.out[0], bytes, "db", vectors.out[1], bytes);
}

} // namespace

template <class T>
Variant run(Op op, const T* dy, const T* a, const T* b, T* da, T* db, std::int64_t n,
            Variant variant, Stream& stream) {
  require_extent("elementwise_backward: n", n);
  variant = resolved(variant);
  if (n == 0) return variant;
  const Vectors<T> vectors{{dy, a, b}, {da, db}};
  require_arrays(vectors, n);
  switch (op) {
  case Op::mul: launch_variant<Op::mul>(vectors, n, variant, stream); break;
  case Op::div: launch_variant<Op::div>(vectors, n, variant, stream); break;
  }
  return variant;
}

template Variant run(Op, const float*, const float*, const float*, float*, float*, std::int64_t,
                     Variant, Stream&);
template Variant run(Op, const f16*, const f16*, const f16*, f16*, f16*, std::int64_t, Variant,
                     Stream&);
template Variant run(Op, const bf16*, const bf16*, const bf16*, bf16*, bf16*, std::int64_t, Variant,
                     Stream&);

Work work(Op op, Dtype dtype, std::int64_t n) {
  const auto count = static_cast<double>(n);
  return {.bytes = 5 * count * static_cast<double>(size_of(dtype)),
          .written = 2 * count * static_cast<double>(size_of(dtype)),
          .flops = (op == Op::mul ? 2 : 3) * count};
}

} // namespace kg::elementwise_backward
