// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What `automatic` knows from measuring: for products on some devices, the variant that was the
// fastest. choices.inc is written anew after a change of the kernels, or for another device, by
// `kernelgrade study matmul_shapes` and `kernelgrade choose` (docs/how-to/run_a_study.md). A device
// without lines is chosen for by rule (gemm.cu).
#pragma once

#include "ops/gemm/gemm.h"
#include "runtime/dtype.h"

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>

namespace kg::gemm {

struct Extents {
  std::int64_t b = 1; // products in the batch
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
};

struct Choice {
  std::string_view device; // device_slug
  Dtype dtype;
  Extents extents;
  std::string_view words; // "nn", "tt_tf32"
  Variant variant;
};

inline constexpr std::initializer_list<Choice> kChoices = {
#include "ops/gemm/choices.inc"
};

// How unlike two products are: the powers of two between their extents, added up.
inline double distance(const Extents& x, const Extents& y) {
  const auto powers = [](std::int64_t a, std::int64_t b) {
    return std::fabs(std::log2(static_cast<double>(a) / static_cast<double>(b)));
  };
  return powers(x.b, y.b) + powers(x.m, y.m) + powers(x.n, y.n) + powers(x.k, y.k);
}

// The most like `extents` (all of them at least 1) of what was measured on that device with that
// type and math; null where nothing is within a factor of eight in all.
inline const Choice* nearest(std::span<const Choice> choices, std::string_view device, Dtype dtype,
                             Math math, const Extents& extents) {
  constexpr double kFarthest = 3; // powers of two
  const Choice* result = nullptr;
  double least = kFarthest;
  for (const Choice& choice : choices) {
    const bool tf32 = choice.words.find(name(Math::tf32)) != std::string_view::npos;
    if (choice.device != device || choice.dtype != dtype || tf32 != (math == Math::tf32)) continue;
    const double away = distance(choice.extents, extents);
    if (away > least) continue;
    least = away;
    result = &choice;
  }
  return result;
}

} // namespace kg::gemm
