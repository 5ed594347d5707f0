// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "gemm/gemm.h"

#include "gemm/variants.h"
#include "runtime/error.h"

#include <string>

namespace kg::gemm {
namespace {

void require_extent(const char* field, std::int64_t value) {
  require(value >= 0, std::string("gemm: ") + field + " is " + std::to_string(value) +
                          "; it must not be negative");
}

void require_leading(const char* field, std::int64_t value, const char* extent,
                     std::int64_t least) {
  require(value >= least, std::string("gemm: ") + field + " is " + std::to_string(value) +
                              "; it must be at least " + extent + " = " + std::to_string(least));
}

void validate(const Problem& p) {
  require_extent("m", p.m);
  require_extent("n", p.n);
  require_extent("k", p.k);
  const bool transpose_a = p.transpose_a == Transpose::yes;
  const bool transpose_b = p.transpose_b == Transpose::yes;
  require_leading("lda", p.lda, transpose_a ? "m" : "k", transpose_a ? p.m : p.k);
  require_leading("ldb", p.ldb, transpose_b ? "k" : "n", transpose_b ? p.k : p.n);
  require_leading("ldc", p.ldc, "n", p.n);
}

// A tile is 64x64 whatever C is: with fewer than 256 elements of C more than 15 of 16 multiply-adds
// would be on padding.
constexpr std::int64_t kLeastTiledElements = 256;

Variant resolve(const Problem& p, Variant variant) {
  if (variant != Variant::automatic) return variant;
  return p.m * p.n < kLeastTiledElements ? Variant::naive : Variant::tiled;
}

} // namespace

std::string_view name(Variant variant) {
  switch (variant) {
  case Variant::automatic: return "automatic";
  case Variant::naive: return "naive";
  case Variant::tiled: return "tiled";
  }
  return "";
}

std::string_view transposition_name(Transpose a, Transpose b) {
  const bool transpose_b = b == Transpose::yes;
  if (a == Transpose::yes) return transpose_b ? "tt" : "tn";
  return transpose_b ? "nt" : "nn";
}

Variant run(const Problem& problem, Variant variant, Stream& stream) {
  validate(problem);
  const Variant resolved = resolve(problem, variant);
  Problem p = problem;
  if (p.alpha == 0 || p.k == 0) {
    p.alpha = 0; // with k = 0 a NaN alpha must not reach C
    p.k = 0;
  }
  const bool unchanged = p.k == 0 && p.beta == 1;
  if (p.m == 0 || p.n == 0 || unchanged) return resolved;
  resolved == Variant::naive ? run_naive(p, stream) : run_tiled(p, stream);
  return resolved;
}

Work work(const Problem& p) {
  const double m = static_cast<double>(p.m);
  const double n = static_cast<double>(p.n);
  const double k = p.alpha == 0 ? 0 : static_cast<double>(p.k);
  const double c_passes = p.beta == 0 ? 1 : 2;
  return {.bytes = sizeof(float) * (m * k + k * n + c_passes * m * n), .flops = 2 * m * n * k};
}

} // namespace kg::gemm
