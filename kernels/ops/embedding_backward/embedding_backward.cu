// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// One read of x and one write of y per element; dense gradients of large vocabularies mostly write
// zeros. Expected on an H200: 90 % of copy bandwidth if no row is looked up more than some hundred
// times.
//
// A thread has a pack of a row of y. It loads four packs of x, for four lookups, before it adds the
// first; the remainder goes by two and by one. Most rows are looked up once or twice, so one round
// suffices. Neighbouring lanes have neighbouring packs.
//
// Why not split rows that are looked up often: a second launch would add their parts, in another
// order for each split. A row of n lookups takes n / 4 round trips to memory, concurrent with all
// other rows. For a thousand lookups, that is the time of 1 GB of zeros.
#include "ops/embedding_backward/embedding_backward.h"

#include "primitives/divisor.h"
#include "primitives/pack.h"
#include "runtime/dtype.h"
#include "runtime/error.h"
#include "runtime/launch.h"
#include "runtime/preconditions.h"

#include <algorithm>
#include <limits>
#include <string>

namespace kg::embedding_backward {

constexpr int kThreads = 256;

// Adds packs of lookups [j, j + N) of the list, in their order.
template <int N, class T, int Count>
__device__ __forceinline__ void add_lookups(const Problem<T>& p, std::int32_t j,
                                            std::int64_t column, float (&sum)[Count]) {
  using Elements = Pack<T, Count>;
  std::int32_t lookup[N];
  KG_UNROLL
  for (int a = 0; a < N; ++a) lookup[a] = p.order[j + a];
  Elements x[N];
  KG_UNROLL
  for (int a = 0; a < N; ++a)
    x[a] = *reinterpret_cast<const Elements*>(p.x + lookup[a] * p.inner + column);
  KG_UNROLL
  for (int a = 0; a < N; ++a) {
    KG_UNROLL
    for (int e = 0; e < Count; ++e) sum[e] += to_float(x[a].element[e]);
  }
}

template <class T, int Count>
__global__ void __launch_bounds__(kThreads)
    sum_rows(Problem<T> p, Divisor packs, std::int64_t total) {
  using Elements = Pack<T, Count>;
  const std::int64_t item = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (item >= total) return;
  const std::int64_t row = packs.quotient(item), column = (item - row * packs.value) * Count;
  const std::int32_t end = p.offsets[row + 1];
  std::int32_t j = p.offsets[row];
  float sum[Count] = {};
  KG_ROLLED
  for (; end - j >= 4; j += 4) add_lookups<4>(p, j, column, sum);
  if (end - j >= 2) {
    add_lookups<2>(p, j, column, sum);
    j += 2;
  }
  if (j < end) add_lookups<1>(p, j, column, sum);
  Elements rounded;
  KG_UNROLL
  for (int e = 0; e < Count; ++e) rounded.element[e] = from_float<T>(sum[e]);
  store_wide(reinterpret_cast<Elements*>(p.y + row * p.inner + column), rounded);
}

namespace {

template <class T, int Count>
void launch_packs(const Problem<T>& p, Stream& stream) {
  const std::int64_t packs = p.inner / Count, total = p.rows * packs;
  launch(sum_rows<T, Count>,
         {.grid =
              grid_x(div_up(total, kThreads), "embedding_backward: the elements", "split the rows"),
          .block = kThreads,
          .stream = &stream},
         p, Divisor(packs), total);
}

template <class T>
void require_valid(const Problem<T>& p) {
  require_extent("embedding_backward: count", p.count);
  require_extent("embedding_backward: rows", p.rows);
  require_extent("embedding_backward: inner", p.inner);
  require(p.count <= std::numeric_limits<std::int32_t>::max(),
          "embedding_backward: count is " + std::to_string(p.count) +
              "; offsets have 32 bits: split the lookups");
  const std::int64_t results = p.rows * p.inner;
  if (results == 0) return;
  require_elements("embedding_backward: x", p.x, p.count);
  require_elements("embedding_backward: order", p.order, p.count);
  require_elements("embedding_backward: offsets", p.offsets, p.rows + 1);
  require_elements("embedding_backward: y", p.y, results);
  const auto apart = [&](const std::string& what, const auto* data, std::int64_t elements) {
    constexpr auto kEach = static_cast<std::int64_t>(sizeof(*data));
    if (elements > 0)
      require_apart(what, data, elements * kEach, "y", p.y,
                    results * static_cast<std::int64_t>(sizeof(T)));
  };
  apart("embedding_backward: x", p.x, p.count * p.inner);
  apart("embedding_backward: order", p.order, p.count);
  apart("embedding_backward: offsets", p.offsets, p.rows + 1);
}

} // namespace

template <class T>
Variant run(const Problem<T>& p, Variant variant, Stream& stream) {
  require_valid(p);
  variant = resolved(variant);
  if (p.rows * p.inner == 0) return variant;
  const bool packs = p.inner % kPackElements<T> == 0 && is_aligned(p.x) && is_aligned(p.y);
  if (variant == Variant::vectorized && packs)
    launch_packs<T, kPackElements<T>>(p, stream);
  else
    launch_packs<T, 1>(p, stream);
  return variant;
}

template <class T>
Work work(const Problem<T>& p) {
  const auto count = static_cast<double>(p.count), rows = static_cast<double>(p.rows),
             inner = static_cast<double>(p.inner);
  return {.bytes = (count + rows) * inner * sizeof(T) + (count + rows + 1) * sizeof(std::int32_t),
          .written = rows * inner * sizeof(T),
          .flops = count * inner};
}

template Variant run(const Problem<float>&, Variant, Stream&);
template Variant run(const Problem<f16>&, Variant, Stream&);
template Variant run(const Problem<bf16>&, Variant, Stream&);
template Work work(const Problem<float>&);
template Work work(const Problem<f16>&);
template Work work(const Problem<bf16>&);

} // namespace kg::embedding_backward
