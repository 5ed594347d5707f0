// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// permute: y is x with reordered axes, bit for bit: axis d of y is axis order[d] of x.
//
// Problem: tensors of up to five axes and elements of 1, 2, 4 or 8 bytes. Layout: both packed, the
// last axis contiguous; pointers need only the element's own alignment. x and y must not overlap.
// NCHW to NHWC is {0, 2, 3, 1}, the inverse {0, 3, 1, 2}. Special values: none, since only bits
// move; NaN payloads and signs of zeros are unchanged. Repeated runs are bit-identical.
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

// Entries beyond `rank` are ignored.
struct Permutation {
  int rank = 0;
  std::array<std::int64_t, kMaxRank> shape{}; // of x
  std::array<int, kMaxRank> order{};
};

// naive: one thread per element, in the order of y. coalesced: 16-byte packs of rows if the last
// axis stays last, else tiles transposed in shared memory. Rows shorter than a pack and tiles with
// both sides below 16 run the naive kernel.
enum class Variant { automatic, naive, coalesced };
inline constexpr Variant kVariants[] = {Variant::naive, Variant::coalesced};

// The variant that runs when `variant` is requested.
constexpr Variant resolved(Variant variant) {
  return variant == Variant::automatic ? Variant::coalesced : variant;
}

using kg::name;

// Enqueues the operation and returns the variant that runs. Extents may be 0. Throws Error on a
// rank outside 1 to 5, a negative extent, an order that is not a permutation of the axes, a null
// pointer, or an unsupported element size.
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
