// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// One read and one write per element: 8 bytes in f32, 4 in 16 bits. The tables are read from memory
// once; other heads of a token hit the caches. Three operations per element are far below the issue
// rate at full memory bandwidth. Expected on an H200: 92 % of copy bandwidth for rows of at least
// 64 elements.
//
// A thread processes one 16-byte vector of x1 and one of x2 (half_split), or a vector of whole
// pairs (interleaved), with their cosines and sines, also by 16-byte accesses. All loads are issued
// before the first multiply. A row's items are its pairs, followed by its copies. Finding an item's
// row takes one division by a number known to the host.
//
// Why not one thread for all heads of a token, which could keep cosines in registers: rows of 32
// heads are 8 KiB apart, and each thread would have few loads in flight. Why not a block per token:
// 64 elements are only 8 vectors.
#include "ops/rope/rope.h"

#include "primitives/divisor.h"
#include "primitives/pack.h"
#include "runtime/dtype.h"
#include "runtime/error.h"
#include "runtime/launch.h"
#include "runtime/preconditions.h"

#include <algorithm>
#include <string>

namespace kg::rope {

constexpr int kThreads = 256;

template <class T>
struct Arguments {
  Problem<T> problem;
  Divisor items, heads; // items per row
  std::int64_t total;   // items
  std::int64_t pairs;   // items per row that rotate; the others copy
  float sign;           // of the sine
};

// Contiguous elements that a thread reads at a time.
template <Layout layout>
constexpr int per_access(int count) {
  return layout == Layout::interleaved ? 2 * count : count;
}

// kCount: pairs per item; if greater than 1, all its accesses are aligned to their size.
template <Layout layout, class T, int kCount>
__global__ void __launch_bounds__(kThreads) turn(Arguments<T> a) {
  constexpr int kAccess = per_access<layout>(kCount);
  using Elements = Pack<T, kAccess>;
  using Floats = Pack<float, kCount>;
  const Problem<T>& p = a.problem;
  const std::int64_t index = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (index >= a.total) return;
  const std::int64_t row = a.items.quotient(index), item = index - row * a.items.value;
  const std::int64_t token = a.heads.quotient(row), head = row - token * a.heads.value;
  const T* const x = p.x + token * p.x_stride.token + head * p.x_stride.head;
  T* const y = p.y + token * p.y_stride.token + head * p.y_stride.head;

  if (item >= a.pairs) {
    const std::int64_t at = p.rotary + (item - a.pairs) * kAccess;
    if constexpr (kCount == 1) {
      y[at] = x[at];
      if (kAccess == 2 && at + 1 < p.depth) y[at + 1] = x[at + 1];
    } else {
      store_wide(reinterpret_cast<Elements*>(y + at), *reinterpret_cast<const Elements*>(x + at));
    }
    return;
  }

  const std::int64_t half = p.rotary / 2, pair = item * kCount;
  const std::int64_t position = p.position == nullptr ? token : p.position[token];
  const auto cosine = *reinterpret_cast<const Floats*>(p.cosine + position * half + pair);
  const auto sine = *reinterpret_cast<const Floats*>(p.sine + position * half + pair);
  if constexpr (layout == Layout::half_split) {
    const auto first = *reinterpret_cast<const Elements*>(x + pair);
    const auto second = *reinterpret_cast<const Elements*>(x + half + pair);
    Elements y1, y2;
    KG_UNROLL
    for (int i = 0; i < kCount; ++i) {
      const float x1 = to_float(first.element[i]), x2 = to_float(second.element[i]);
      const float c = cosine.element[i], s = a.sign * sine.element[i];
      y1.element[i] = from_float<T>(fmaf(x1, c, -(x2 * s)));
      y2.element[i] = from_float<T>(fmaf(x2, c, x1 * s));
    }
    store_wide(reinterpret_cast<Elements*>(y + pair), y1);
    store_wide(reinterpret_cast<Elements*>(y + half + pair), y2);
  } else {
    Elements pairs;
    if constexpr (kCount == 1) { // two elements need not be aligned as a pair
      pairs.element[0] = x[2 * pair];
      pairs.element[1] = x[2 * pair + 1];
    } else {
      pairs = *reinterpret_cast<const Elements*>(x + 2 * pair);
    }
    Elements result;
    KG_UNROLL
    for (int i = 0; i < kCount; ++i) {
      const float x1 = to_float(pairs.element[2 * i]), x2 = to_float(pairs.element[2 * i + 1]);
      const float c = cosine.element[i], s = a.sign * sine.element[i];
      result.element[2 * i] = from_float<T>(fmaf(x1, c, -(x2 * s)));
      result.element[2 * i + 1] = from_float<T>(fmaf(x2, c, x1 * s));
    }
    if constexpr (kCount == 1) {
      y[2 * pair] = result.element[0];
      y[2 * pair + 1] = result.element[1];
    } else {
      store_wide(reinterpret_cast<Elements*>(y + 2 * pair), result);
    }
  }
}

namespace {

template <Layout layout, class T, int kCount>
void launch_turn(const Problem<T>& p, Stream& stream) {
  const std::int64_t pairs = p.rotary / 2 / kCount;
  const std::int64_t items = pairs + div_up(p.depth - p.rotary, per_access<layout>(kCount));
  const std::int64_t total = p.tokens * p.heads * items;
  launch(turn<layout, T, kCount>,
         {.grid = grid_x(div_up(total, kThreads), "rope: the elements", "split the tokens"),
          .block = kThreads,
          .stream = &stream},
         Arguments<T>{p, Divisor(items), Divisor(p.heads), total, pairs,
                      p.direction == Direction::forward ? 1.0F : -1.0F});
}

// Pairs in 16 bytes of x, or in 16 bytes of x1 and 16 of x2.
template <Layout layout, class T>
constexpr int kPairs = kPackElements<T> / (layout == Layout::interleaved ? 2 : 1);

// Whether all accesses can use such vectors.
template <Layout layout, class T>
bool is_made_of_packs(const Problem<T>& p) {
  constexpr std::int64_t kPack = kPackElements<T>;
  const auto rows_are = [&](const T* data, const Strides& stride) {
    return is_aligned(data) && (p.tokens == 1 || stride.token % kPack == 0) &&
           (p.heads == 1 || stride.head % kPack == 0);
  };
  const auto table_is = [](const float* table) {
    return reinterpret_cast<std::uintptr_t>(table) % (kPairs<layout, T> * sizeof(float)) == 0;
  };
  return p.rotary / 2 % kPairs<layout, T> == 0 && (p.depth - p.rotary) % kPack == 0 &&
         rows_are(p.x, p.x_stride) && rows_are(p.y, p.y_stride) && table_is(p.cosine) &&
         table_is(p.sine);
}

template <Layout layout, class T>
void launch_variant(const Problem<T>& p, Variant variant, Stream& stream) {
  if (variant == Variant::vectorized && is_made_of_packs<layout>(p))
    launch_turn<layout, T, kPairs<layout, T>>(p, stream);
  else
    launch_turn<layout, T, 1>(p, stream);
}

void require_strides(const std::string& what, const Strides& stride) {
  for (const std::int64_t each : {stride.token, stride.head})
    require(each >= 0,
            what + " has a stride of " + std::to_string(each) + "; strides must be 0 or more");
}

// Checks that rows of y do not overlap.
template <class T>
void require_rows_apart(const Problem<T>& p) {
  const Strides& stride = p.y_stride;
  const bool heads_inside = stride.head <= stride.token;
  const std::int64_t inner = heads_inside ? stride.head : stride.token;
  const std::int64_t count = heads_inside ? p.heads : p.tokens;
  const std::int64_t outer = heads_inside ? stride.token : stride.head;
  const std::int64_t others = heads_inside ? p.tokens : p.heads;
  const std::int64_t extent = (count - 1) * inner + p.depth;
  require((count == 1 || inner >= p.depth) && (others == 1 || outer >= extent),
          "rope: rows of y overlap: strides are " + std::to_string(stride.token) +
              " from token to token and " + std::to_string(stride.head) +
              " from head to head, rows have " + std::to_string(p.depth) + " elements");
}

template <class T>
void require_valid(const Problem<T>& p) {
  require_extent("rope: tokens", p.tokens);
  require_extent("rope: heads", p.heads);
  require_extent("rope: depth", p.depth);
  require_extent("rope: positions", p.positions);
  require(p.rotary >= 0 && p.rotary <= p.depth && p.rotary % 2 == 0,
          "rope: rotary is " + std::to_string(p.rotary) + " of a depth of " +
              std::to_string(p.depth) + "; it must be even, and at most the depth");
  require(p.position != nullptr || p.rotary == 0 || p.tokens <= p.positions,
          "rope: " + std::to_string(p.tokens) + " tokens have " + std::to_string(p.positions) +
              " positions; make longer tables, or pass each token's position");
  require_strides("rope: x", p.x_stride);
  require_strides("rope: y", p.y_stride);
  const std::int64_t elements = p.tokens * p.heads * p.depth;
  require_elements("rope: x", p.x, elements);
  require_elements("rope: y", p.y, elements);
  const std::int64_t turned = elements == 0 ? 0 : p.rotary;
  require_elements("rope: cosine", p.cosine, turned);
  require_elements("rope: sine", p.sine, turned);
  if (elements > 0) require_rows_apart(p);
}

} // namespace

std::string_view name(Layout layout) {
  return layout == Layout::half_split ? "half_split" : "interleaved";
}

template <class T>
Variant run(const Problem<T>& p, Variant variant, Stream& stream) {
  require_valid(p);
  variant = resolved(variant);
  if (p.tokens * p.heads * p.depth == 0) return variant;
  if (p.layout == Layout::half_split)
    launch_variant<Layout::half_split>(p, variant, stream);
  else
    launch_variant<Layout::interleaved>(p, variant, stream);
  return variant;
}

template <class T>
Work work(const Problem<T>& p) {
  const double elements =
      static_cast<double>(p.tokens) * static_cast<double>(p.heads) * static_cast<double>(p.depth);
  const double table = static_cast<double>(p.positions) * static_cast<double>(p.rotary);
  const double list = p.position == nullptr ? 0 : static_cast<double>(p.tokens);
  return {.bytes = 2 * elements * sizeof(T) + table * sizeof(float) + list * sizeof(std::int32_t),
          .written = elements * sizeof(T),
          .flops = 3 * static_cast<double>(p.tokens) * static_cast<double>(p.heads) *
                   static_cast<double>(p.rotary)};
}

template Variant run(const Problem<float>&, Variant, Stream&);
template Variant run(const Problem<f16>&, Variant, Stream&);
template Variant run(const Problem<bf16>&, Variant, Stream&);
template Work work(const Problem<float>&);
template Work work(const Problem<f16>&);
template Work work(const Problem<bf16>&);

} // namespace kg::rope
