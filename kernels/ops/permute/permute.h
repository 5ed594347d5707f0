// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// permute: y is x with its axes in another order, bit for bit: axis d of y is axis order[d] of x.
//
// Problem: tensors of up to five axes and elements of 1, 2, 4 or 8 bytes. Layout: both packed, the
// last axis contiguous; any alignment of the element itself; x and y must not overlap. NCHW to NHWC
// is {0, 2, 3, 1}, back {0, 3, 1, 2}. Special values: there are none, since only bits move: NaN
// payloads and the signs of zeros arrive unchanged. Repeated runs are bit-identical.
#pragma once

#include "runtime/device_code.h"
#include "runtime/enumerators.h"
#include "runtime/stream.h"
#include "runtime/work.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kg::permute {

inline constexpr int kMaxRank = 5;

// Entries beyond `rank` do not count.
struct Permutation {
  int rank = 0;
  std::array<std::int64_t, kMaxRank> shape{}; // of x
  std::array<int, kMaxRank> order{};
};

// naive: one element per thread in the order of y. coalesced: rows in 16-byte packs where the last
// axis stays the last, and tiles turned in shared memory where it does not. Axes that are both
// short (below 16) leave it nothing to coalesce: there it runs the kernel of naive.
enum class Variant { automatic, naive, coalesced };
inline constexpr Variant kVariants[] = {Variant::naive, Variant::coalesced};

// What runs where `variant` is asked for.
constexpr Variant resolved(Variant variant) {
  return variant == Variant::automatic ? Variant::coalesced : variant;
}

using kg::name;

// Enqueues the operation and returns the variant that runs. Extents may be 0. Throws Error on a
// rank beyond 1 to 5, a negative extent, an order that is no permutation of the axes, a null
// pointer, or elements of another size.
Variant run(const void* x, void* y, const Permutation& permutation, std::size_t element_bytes,
            Variant variant, Stream& stream);

template <class T>
Variant run(const T* x, T* y, const Permutation& permutation, Variant variant, Stream& stream) {
  return run(static_cast<const void*>(x), static_cast<void*>(y), permutation, sizeof(T), variant,
             stream);
}

// One read and one write per element, no arithmetic.
Work work(Dtype dtype, const Permutation& permutation);

} // namespace kg::permute
