// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Measured choices of `automatic`: the fastest variant for given products on given devices.
// `kernelgrade study matmul_shapes` and `kernelgrade choose` regenerate choices.inc after a change
// of the kernels or for a new device (docs/how-to/run_a_study.md). Devices without entries follow
// the rules in gemm.cu.
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

// Distance between two products: the sum of |log2| of the ratios of their extents.
inline double distance(const Extents& x, const Extents& y) {
  const auto powers = [](std::int64_t a, std::int64_t b) {
    return std::fabs(std::log2(static_cast<double>(a) / static_cast<double>(b)));
  };
  return powers(x.b, y.b) + powers(x.m, y.m) + powers(x.n, y.n) + powers(x.k, y.k);
}

// The measured product closest to `extents` (all at least 1) for this device, type and math; null
// if none is within a combined factor of eight.
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
