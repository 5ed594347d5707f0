// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Sorts each segment separately. The indices of all keys are first sorted by key, as a whole, and
// then by segment; stability keeps each segment's keys in order. Finally, fetch() gathers keys and
// values by these indices.
//
// Bytes: a sort of pairs, a sort of i32 with values, 20 n for intermediate arrays, and the gather.
// In the gather each key and value may be its own sector. The cost depends on n alone: one long
// segment among a million empty ones takes no longer than equal segments. One block per segment
// would move fewer bytes if segments fit into shared memory, but would otherwise wait for the
// longest one.
#include "ops/sort/sort.h"

#include "ops/sort/arrays.h"
#include "ops/sort/keys.h"
#include "runtime/error.h"
#include "runtime/launch.h"
#include "runtime/preconditions.h"

#include <algorithm>
#include <bit>

namespace kg::sort {

constexpr int kThreads = 256;

// The segment that holds element i: the last one that begins at or before i. Empty segments that
// begin at the same element come earlier.
__device__ inline std::int32_t segment_of(const Segments& segments, std::int64_t i) {
  std::int64_t low = 0, high = segments.count; // it is in [low, high)
  while (high - low > 1) {
    const std::int64_t middle = (low + high) / 2;
    const std::int32_t begins = segments.offsets[middle];
    if (begins <= i)
      low = middle;
    else
      high = middle;
  }
  return static_cast<std::int32_t>(low);
}

// One thread per key, which counts the keys of its segment that precede it.
template <class Keys>
__global__ void __launch_bounds__(kThreads)
    naive_segments(Keys order, Word<Keys> mask, const Word<Keys>* keys, Word<Keys>* sorted_keys,
                   const std::int32_t* values, std::int32_t* sorted_values, std::int64_t n,
                   Segments segments) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= n) return;
  const Word<Keys> own = keys[i];
  const std::int32_t segment = segment_of(segments, i);
  const std::int64_t first = segments.offsets[segment], behind = segments.offsets[segment + 1];
  std::int64_t to = first;
  for (std::int64_t j = first; j < behind; ++j) {
    const Word<Keys> other = keys[j];
    if (comes_before(order, mask, other, j, own, i)) ++to;
  }
  sorted_keys[to] = own;
  if (values != nullptr) {
    const std::int32_t value = values[i];
    sorted_values[to] = value;
  }
}

__global__ void __launch_bounds__(kThreads) count_up(std::int32_t* numbers, std::int64_t n) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i < n) numbers[i] = static_cast<std::int32_t>(i);
}

__global__ void __launch_bounds__(kThreads)
    find_segments(const std::int32_t* numbers, std::int32_t* found, std::int64_t n,
                  Segments segments) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i < n) found[i] = segment_of(segments, numbers[i]);
}

template <class W>
__global__ void __launch_bounds__(kThreads)
    fetch(const std::int32_t* numbers, const W* keys, W* sorted_keys, const std::int32_t* values,
          std::int32_t* sorted_values, std::int64_t n) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= n) return;
  const std::int32_t from = numbers[i];
  const W key = keys[from];
  sorted_keys[i] = key;
  if (values != nullptr) {
    const std::int32_t value = values[from];
    sorted_values[i] = value;
  }
}

namespace {

// Bytes of n 32-bit words, rounded up to 16.
std::int64_t words_of(std::int64_t n) { return div_up(n * 4, 16) * 16; }

// For sorting by the numbers of `count` segments.
Order order_of_segments(std::int64_t count) {
  const auto last = static_cast<std::uint64_t>(std::max<std::int64_t>(count - 1, 1));
  return {.end_bit = static_cast<int>(std::bit_width(last))};
}

template <class T>
void sort_twice(const Arrays<T>& arrays, std::int64_t n, const Segments& segments,
                const Order& order, void* workspace, LaunchConfig each, Stream& stream) {
  auto* const sorted = static_cast<std::int32_t*>(workspace); // 0 to n - 1, later sorted by segment
  std::int32_t* const numbers = sorted + words_of(n) / 4;
  std::int32_t* const found = numbers + words_of(n) / 4;
  std::int32_t* const in_order = found + words_of(n) / 4;
  void* const of_sorts = in_order + words_of(n) / 4;
  launch(count_up, each, sorted, n);
  run<T>({arrays.keys, arrays.sorted_keys, sorted, numbers}, n, order, of_sorts, Variant::onesweep,
         stream);
  launch(find_segments, each, numbers, found, n, segments);
  run<std::int32_t>({found, in_order, numbers, sorted}, n, order_of_segments(segments.count),
                    of_sorts, Variant::onesweep, stream);
  with_keys<T>(false, [&]<class Keys>(Keys) {
    launch(fetch<Word<Keys>>, each, sorted, reinterpret_cast<const Word<Keys>*>(arrays.keys),
           reinterpret_cast<Word<Keys>*>(arrays.sorted_keys), arrays.values, arrays.sorted_values,
           n);
  });
}

} // namespace

std::size_t segments_workspace_bytes(std::int64_t n, std::size_t key_bytes, std::int64_t segments,
                                     const Order& order, Variant variant) {
  if (variant == Variant::naive || n == 0) return 0;
  return static_cast<std::size_t>(4 * words_of(n)) +
         std::max(workspace_bytes(n, key_bytes, true, order, Variant::onesweep),
                  workspace_bytes(n, sizeof(std::int32_t), true, order_of_segments(segments),
                                  Variant::onesweep));
}

template <class T>
Variant run_segments(const Arrays<T>& arrays, std::int64_t n, const Segments& segments,
                     const Order& order, void* workspace, Variant variant, Stream& stream) {
  variant = resolved_of_segments(variant);
  require(variant != Variant::counting, [] {
    return "sort: variant is counting, which does not take segments; pass automatic or onesweep";
  });
  require_arrays(arrays, n);
  const Order whole = checked_order(order, sizeof(T));
  require_segments("sort", segments, n);
  if (n == 0) return variant;
  require_apart("sort: offsets", segments.offsets, segments.bytes(), "sorted_keys",
                arrays.sorted_keys, n * static_cast<std::int64_t>(sizeof(T)));
  if (arrays.values != nullptr)
    require_apart("sort: offsets", segments.offsets, segments.bytes(), "sorted_values",
                  arrays.sorted_values, 4 * n);
  require_workspace(workspace,
                    segments_workspace_bytes(n, sizeof(T), segments.count, whole, variant));
  const LaunchConfig each{
      .grid = static_cast<unsigned>(div_up(n, kThreads)), .block = kThreads, .stream = &stream};
  if (variant == Variant::onesweep) {
    sort_twice(arrays, n, segments, whole, workspace, each, stream);
    return variant;
  }
  with_keys<T>(order.descending, [&]<class Keys>(Keys keys) {
    launch(naive_segments<Keys>, each, keys, mask_of<Word<Keys>>(whole),
           reinterpret_cast<const Word<Keys>*>(arrays.keys),
           reinterpret_cast<Word<Keys>*>(arrays.sorted_keys), arrays.values, arrays.sorted_values,
           n, segments);
  });
  return variant;
}

template Variant run_segments(const Arrays<float>&, std::int64_t, const Segments&, const Order&,
                              void*, Variant, Stream&);
template Variant run_segments(const Arrays<f16>&, std::int64_t, const Segments&, const Order&,
                              void*, Variant, Stream&);
template Variant run_segments(const Arrays<bf16>&, std::int64_t, const Segments&, const Order&,
                              void*, Variant, Stream&);
template Variant run_segments(const Arrays<std::int32_t>&, std::int64_t, const Segments&,
                              const Order&, void*, Variant, Stream&);
template Variant run_segments(const Arrays<std::uint32_t>&, std::int64_t, const Segments&,
                              const Order&, void*, Variant, Stream&);
template Variant run_segments(const Arrays<std::int64_t>&, std::int64_t, const Segments&,
                              const Order&, void*, Variant, Stream&);

} // namespace kg::sort
