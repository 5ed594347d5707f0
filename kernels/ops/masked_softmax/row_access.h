// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Loads and arithmetic that the masked kernels share. Masked elements become -inf when loaded. A
// causal mask ends the row early: of the hidden elements, at most the rest of one pack is read.
#pragma once

#include "ops/masked_softmax/masked_softmax.h"
#include "primitives/divisor.h"
#include "primitives/exponential.h"
#include "primitives/stored_pack.h"

#include <limits>

namespace kg::masked_softmax {

inline constexpr float kMasked = -std::numeric_limits<float>::infinity();

// One row of the problem. A causal mask ends it at `kept`, else cols, and has no `keep` (null).
template <class T>
struct Row {
  const T* x;
  const std::uint8_t* keep;
  T* y;
  std::int64_t kept;
  std::int64_t cols;
};

// The arguments of a kernel.
template <class T>
struct Problem {
  const T* x;
  std::int64_t x_stride;
  const std::uint8_t* keep;
  std::int64_t keep_stride;
  T* y;
  std::int64_t y_stride;
  std::int64_t rows;
  std::int64_t cols;
  Divisor queries; // for a causal mask
  float scale;

  template <Form form>
  __device__ __forceinline__ Row<T> row(std::int64_t i) const {
    Row<T> result{x + i * x_stride, nullptr, y + i * y_stride, cols, cols};
    if constexpr (form == Form::boolean) {
      result.keep = keep + i * keep_stride;
    } else {
      const std::int64_t query = i - queries.quotient(i) * queries.value;
      const std::int64_t visible = query + cols - queries.value + 1;
      result.kept = visible > 0 ? visible : 0;
    }
    return result;
  }
};

// A pack of x and, for a boolean mask, of the mask.
template <Form form, class T, int Count>
struct MaskedPack {
  StoredPack<T, Count> x;
  StoredPack<std::uint8_t, Count> keep;

  // Loads pack number `pack` of the row.
  __device__ __forceinline__ static MaskedPack load(const Row<T>& row, std::int64_t pack) {
    MaskedPack result;
    result.x = load_stored<T, Count>(row.x, pack, row.kept, from_float<T>(kMasked));
    if constexpr (form == Form::boolean)
      result.keep = load_stored<std::uint8_t, Count>(row.keep, pack, row.cols);
    return result;
  }

  // Loads the pack at `x` and `keep` in a row of whole packs, which has `present` elements from
  // there on. If a causal mask ends the pack after `kept` elements, all of it is read: see hide().
  __device__ __forceinline__ static MaskedPack load_whole(const T* x, const std::uint8_t* keep,
                                                          int kept, int present) {
    MaskedPack result;
    Pack<T, Count> nothing;
    KG_UNROLL
    for (int e = 0; e < Count; ++e) nothing.element[e] = from_float<T>(kMasked);
    result.x.set(nothing);
    if (kept > 0 && present > 0) result.x.load(x);
    if constexpr (form == Form::boolean) {
      result.keep.set({});
      if (present > 0) result.keep.load(keep);
    }
    return result;
  }

  __device__ __forceinline__ void keep_raw() {
    x.keep_raw();
    if constexpr (form == Form::boolean) keep.keep_raw();
  }

  // The pack of x, with -inf for masked elements.
  __device__ __forceinline__ StoredPack<T, Count> masked() const {
    StoredPack<T, Count> result = x;
    if constexpr (form == Form::boolean) {
      Pack<T, Count> elements = x.pack();
      const auto kept = keep.pack();
      KG_UNROLL
      for (int e = 0; e < Count; ++e)
        if (kept.element[e] == 0) elements.element[e] = from_float<T>(kMasked);
      result.set(elements);
    }
    return result;
  }

  __device__ __forceinline__ Floats<Count> values() const {
    Floats<Count> values = widened(x);
    if constexpr (form == Form::boolean) {
      const auto kept = keep.pack();
      KG_UNROLL
      for (int e = 0; e < Count; ++e)
        if (kept.element[e] == 0) values.value[e] = kMasked;
    }
    return values;
  }
};

// Hides the elements of a pack after the first `kept`, where a causal mask ends it.
template <int Count>
__device__ __forceinline__ void hide(Floats<Count>& values, int kept) {
  KG_UNROLL
  for (int e = 0; e < Count; ++e)
    if (e >= kept) values.value[e] = kMasked;
}

// Element j of the row.
template <Form form, class T>
__device__ __forceinline__ float kept_element(const Row<T>& row, std::int64_t j) {
  return MaskedPack<form, T, 1>::load(row, j).values().value[0];
}

// The value of m: finite if nothing is kept, so that exp(-inf - m) is 0. Rounded here, because in a
// difference of two products nvcc would round only one of them.
__device__ inline float reference_of(float largest, float scale) {
  return largest == kMasked ? 0.0f : __fmul_rn(scale, largest);
}

// With a single rounding: the error is that of the difference, however large m is.
__device__ inline float exponential(float x, float scale, float reference) {
  return expf(fmaf(scale, x, -reference));
}

// The same as a term of a sum, and in units, for results of type T (primitives/exponential.h).
template <class T>
__device__ inline float term(float x, float scale, float reference) {
  return exp_of_sum<T>(fmaf(scale, x, -reference));
}
template <class T>
__device__ inline float in_units(float x, float scale, float reference) {
  return exp_in_units<T>(fmaf(scale, x, -reference));
}

// 0 if nothing is kept. If only the sum is 0, m is beyond f32's range, and 0 times infinity makes
// the row NaN.
__device__ inline float normalizer(float sum, float largest) {
  return sum == 0.0f && largest == kMasked ? 0.0f : 1.0f / sum;
}

} // namespace kg::masked_softmax
