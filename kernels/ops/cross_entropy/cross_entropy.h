// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// cross_entropy: the loss of each row of logits for its target class t, by log-softmax, which is
// not stored. With lse_i = log(sum over j of exp(x[i][j])), label smoothing s and C classes:
//   loss_i = lse_i - (1 - s) x[i][t] - s / C (sum over j of x[i][j]) + z lse_i^2
// The last term is the z-loss of large models (Chowdhery et al., arXiv 2204.02311); it holds lse
// near 0. Label smoothing: Szegedy et al., arXiv 1512.00567. Callers form means or sums of the
// losses; the gradient takes a factor per row (cross_entropy_backward).
//
// Problem: a rows x classes matrix of logits, with rows `logits_stride` elements apart, at any
// alignment of the element itself. Outputs are a loss and optionally lse for each row, in f32. Sums
// use differences of logits, in f32: adding a constant to a row changes the result only by the
// rounding of that addition. A row whose target is `ignored` is not read; its loss and lse are 0.
// Any other target outside [0, classes) traps before an access uses it. On the host backend, run
// then throws Error; on a GPU, the next synchronisation fails and the context is lost. Outputs
// overlap nothing. Every variant adds in a fixed order, which depends on the row's alignment:
// repeated runs are bit-identical.
//
// Special values: a NaN or +inf in a row makes its loss and lse NaN. A logit of -inf adds nothing
// to lse. The loss is then +inf if that class has a weight: the target, or any class under
// smoothing. A row of only -inf gives lse = -inf and a NaN loss. Under smoothing, the loss is
// infinite if the sum of logit differences overflows.
#pragma once

#include "ops/cross_entropy/objective.h"
#include "runtime/enumerators.h"
#include "runtime/stream.h"
#include "runtime/work.h"

#include <cstdint>
#include <string_view>

namespace kg::cross_entropy {

template <class T>
struct Problem {
  std::int64_t rows = 0;
  std::int64_t classes = 0;
  const T* logits = nullptr;
  std::int64_t logits_stride = 0;
  Objective objective = {};
  float* loss = nullptr;
  float* log_sum = nullptr; // lse; null if not wanted
};

// naive: one thread per row, which reads it twice. warp: one warp per row. block: one block per
// row. warp and block read each logit once, in 16-byte accesses whatever the row's alignment. Every
// variant takes rows of any length.
enum class Variant { automatic, naive, warp, block };
inline constexpr Variant kVariants[] = {Variant::naive, Variant::warp, Variant::block};

// Longest row that automatic gives to a warp: at most eight loads per lane, and no barrier.
inline constexpr std::int64_t kWarpMaxClasses = 1024;

// The variant that runs when `variant` is requested.
constexpr Variant resolved(Variant variant, std::int64_t classes) {
  if (variant != Variant::automatic) return variant;
  return classes <= kWarpMaxClasses ? Variant::warp : Variant::block;
}

using kg::name;

// Enqueues the operation and returns the variant that runs. T: float, f16, bf16. Throws Error on a
// negative extent, zero classes, a stride below classes, or a required pointer that is null. Also
// on a label_smoothing outside [0, 1], a z_loss that is negative or not finite, or an output that
// overlaps the logits, the targets or the other output.
template <class T>
Variant run(const Problem<T>& problem, Variant variant, Stream& stream);

// Longest sequential chain of additions in a row's sum; the error bound grows with it.
std::int64_t chain(Variant variant, std::int64_t classes);

// Each logit and target is read once; a loss and optionally lse are written. About four operations
// per logit (maximum, difference, exponential, addition), two more under smoothing.
template <class T>
Work work(const Problem<T>& problem);

} // namespace kg::cross_entropy
