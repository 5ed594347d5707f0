// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Two reads and one write per element, so a kernel can only be slow by leaving memory idle. Bytes:
// 12 n (f32, i32), 6 n (f16, bf16) or 24 n (f64); flops: n. Expected on an H200: 4.2 to 4.4 TB/s of
// the rated 4.8, once the arrays are far larger than L2 (60 MB).
//
// A multiprocessor of an H200 needs bytes in flight equal to its share of the bandwidth times the
// latency, about 4.8 TB/s / 132 x 800 ns = 28 KiB. CUB tunes its transform to 48 KiB on this GPU.
// Here each thread issues four 16-byte loads before it uses the first, so the 1024 threads of a
// multiprocessor have 64 KiB in flight. Why not bulk copies into shared memory: they save
// registers, which this kernel has to spare, and need compute capability 9.
#include "ops/elementwise/elementwise.h"

#include "primitives/arithmetic.h"
#include "primitives/pack.h"
#include "runtime/device.h"
#include "runtime/error.h"
#include "runtime/launch.h"
#include "runtime/preconditions.h"

#include <algorithm>
#include <cstdint>
#include <string>

namespace kg::elementwise {

constexpr int kThreads = 256;
constexpr int kBlocksPerSm = 4;   // resident on every device of compute capability 7.5 and later
constexpr int kPacksPerInput = 2; // loaded per thread before the first use

template <Op op, class T>
__global__ void __launch_bounds__(kThreads) naive(const T* a, const T* b, T* out, std::int64_t n) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) out[i] = apply<op>(a[i], b[i]);
}

// Processes `packs` packs from a, b and out on, each aligned to its size. Blocks stride over tiles
// of kThreads x Loads packs. No __restrict__: out may be a or b. Therefore all loads of a tile come
// before its first store; the compiler could not move them there.
template <Op op, class T, int Count, int Loads>
__device__ void transform_packs(const T* a, const T* b, T* out, std::int64_t packs) {
  using Chunk = Pack<T, Count>;
  const auto* from_a = reinterpret_cast<const Chunk*>(a);
  const auto* from_b = reinterpret_cast<const Chunk*>(b);
  auto* to = reinterpret_cast<Chunk*>(out);
  constexpr int kTile = kThreads * Loads;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * kTile;
  std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * kTile + threadIdx.x;
  std::int64_t tile_end = static_cast<std::int64_t>(blockIdx.x + 1) * kTile;

  for (; tile_end <= packs; first += step, tile_end += step) {
    Chunk x[Loads];
    Chunk y[Loads];
    KG_UNROLL
    for (int l = 0; l < Loads; ++l) {
      x[l] = from_a[first + l * kThreads];
      y[l] = from_b[first + l * kThreads];
    }
    KG_UNROLL
    for (int l = 0; l < Loads; ++l) {
      KG_UNROLL
      for (int e = 0; e < Count; ++e) x[l].element[e] = apply<op>(x[l].element[e], y[l].element[e]);
      to[first + l * kThreads] = x[l];
    }
  }
  // The last, partial tile: `first` is in range only for the block whose turn it is.
  for (; first < packs && first < tile_end; first += kThreads) {
    Chunk x = from_a[first];
    const Chunk y = from_b[first];
    KG_UNROLL
    for (int e = 0; e < Count; ++e) x.element[e] = apply<op>(x.element[e], y.element[e]);
    to[first] = x;
  }
}

// a, b and out are all `head` elements before a pack boundary.
template <Op op, class T>
__global__ void __launch_bounds__(kThreads, kBlocksPerSm)
    vectorized(const T* a, const T* b, T* out, std::int64_t n, int head) {
  constexpr int kCount = kPackElements<T>;
  const std::int64_t packs = (n - head) / kCount;
  const std::int64_t body = packs * kCount;
  transform_packs<op, T, kCount, kPacksPerInput>(a + head, b + head, out + head, packs);
  // The last block has the least work in the loop above.
  if (blockIdx.x + 1 == gridDim.x) {
    const int edge = static_cast<int>(n - body); // head and tail together
    const int i = static_cast<int>(threadIdx.x);
    if (i < edge) {
      const std::int64_t place = i < head ? i : body + i;
      out[place] = apply<op>(a[place], b[place]);
    }
  }
}

// For pointers that no shift aligns together: single elements, with as many bytes in flight.
template <Op op, class T>
__global__ void __launch_bounds__(kThreads, kBlocksPerSm)
    misaligned(const T* a, const T* b, T* out, std::int64_t n) {
  transform_packs<op, T, 1, kPacksPerInput * kPackElements<T>>(a, b, out, n);
}

namespace {

// As many blocks as are resident at once, at most one per tile.
unsigned grid_of(std::int64_t tiles) {
  const std::int64_t resident = std::int64_t{device_properties().sm_count} * kBlocksPerSm;
  return static_cast<unsigned>(std::clamp<std::int64_t>(tiles, 1, resident));
}

template <Op op, class T>
void launch_variant(const T* a, const T* b, T* out, std::int64_t n, Variant variant,
                    Stream& stream) {
  if (variant == Variant::naive) {
    const unsigned grid = grid_x(div_up(n, kThreads),
                                 "elementwise: " + std::to_string(n) + " elements, one per thread,",
                                 "use Variant::vectorized");
    launch(naive<op, T>, {.grid = grid, .block = kThreads, .stream = &stream}, a, b, out, n);
    return;
  }
  constexpr std::int64_t kTile = kThreads * kPacksPerInput * kPackElements<T>;
  const LaunchConfig config{
      .grid = grid_of(div_up(n, kTile)), .block = kThreads, .stream = &stream};
  const int head = elements_to_boundary(a);
  if (elements_to_boundary(b) == head && elements_to_boundary(out) == head)
    launch(vectorized<op, T>, config, a, b, out, n,
           static_cast<int>(std::min<std::int64_t>(head, n)));
  else
    launch(misaligned<op, T>, config, a, b, out, n);
}

// `run` rejects the other combinations, which have no kernels.
template <Op op, class T>
void launch_supported(const T* a, const T* b, T* out, std::int64_t n, Variant variant,
                      Stream& stream) {
  if constexpr (supports(op, dtype_of<T>)) launch_variant<op>(a, b, out, n, variant, stream);
}

} // namespace

template <class T>
Variant run(Op op, const T* a, const T* b, T* out, std::int64_t n, Variant variant,
            Stream& stream) {
  require(supports(op, dtype_of<T>), "elementwise: op is " + std::string(name(op)) + ", but " +
                                         std::string(kg::name(dtype_of<T>)) + " has only add");
  require_extent("elementwise: n", n);
  variant = resolved(variant);
  if (n == 0) return variant;
  require_elements("elementwise: a", a, n);
  require_elements("elementwise: b", b, n);
  require_elements("elementwise: out", out, n);
  switch (op) {
  case Op::add: launch_supported<Op::add>(a, b, out, n, variant, stream); break;
  case Op::sub: launch_supported<Op::sub>(a, b, out, n, variant, stream); break;
  case Op::mul: launch_supported<Op::mul>(a, b, out, n, variant, stream); break;
  case Op::div: launch_supported<Op::div>(a, b, out, n, variant, stream); break;
  }
  return variant;
}

template Variant run(Op, const float*, const float*, float*, std::int64_t, Variant, Stream&);
template Variant run(Op, const f16*, const f16*, f16*, std::int64_t, Variant, Stream&);
template Variant run(Op, const bf16*, const bf16*, bf16*, std::int64_t, Variant, Stream&);
template Variant run(Op, const double*, const double*, double*, std::int64_t, Variant, Stream&);
template Variant run(Op, const int*, const int*, int*, std::int64_t, Variant, Stream&);

Work work(Dtype dtype, std::int64_t n) {
  const auto count = static_cast<double>(n);
  return {.bytes = 3 * count * static_cast<double>(size_of(dtype)),
          .written = count * static_cast<double>(size_of(dtype)),
          .flops = count};
}

} // namespace kg::elementwise
