// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// cross_entropy: how far each row of logits is from its target class t, by log-softmax and without
// storing it. With lse_i = log of the sum over j of exp(x[i][j]), label smoothing s and C classes:
//   loss_i = lse_i - (1 - s) x[i][t] - s / C (sum over j of x[i][j]) + z lse_i^2
// The last term is the z-loss of large models (Chowdhery et al., arXiv 2204.02311), which holds lse
// near 0; label smoothing is that of Szegedy et al., arXiv 1512.00567. A mean or a sum of the
// losses is the caller's: gradients take a factor for each row (cross_entropy_backward).
//
// Problem: a matrix of rows x classes logits, rows `logits_stride` elements apart, at any alignment
// of the element itself; a loss and, where wanted, lse of each row in f32. Computed in f32 from
// differences of logits: adding a number to a whole row changes no more than what it rounds away.
// A row whose target is `ignored` is not read; its loss and lse are 0. Any other target that is no
// class ends the kernel with a trap before anything is read through it: on the host backend an
// Error of run, on a GPU an error of the next synchronisation, behind which the context is lost.
// Outputs overlap nothing. Every variant adds in a fixed order, which depends on where the row
// begins: repeated runs are bit-identical.
//
// Special values: a NaN or +inf in a row makes its loss and lse NaN. A logit of -inf takes no part
// in lse; the loss is +inf where it has a weight: of the target, or of any class under smoothing.
// In a row of nothing but -inf, lse is -inf and the loss NaN. Under smoothing, logits so far apart
// that the sum of their differences overflows give an infinite loss.
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
  float* log_sum = nullptr; // lse; null: not wanted
};

// naive: one thread per row, two reads. warp: one warp per row. block: one block per row. The
// latter two read each logit once, in 16-byte accesses whatever the row's alignment; any of them
// takes rows of any length.
enum class Variant { automatic, naive, warp, block };
inline constexpr Variant kVariants[] = {Variant::naive, Variant::warp, Variant::block};

// Up to here a warp takes a row: it has eight loads under way in each lane at most, and no barrier.
inline constexpr std::int64_t kWarpMaxClasses = 1024;

// What runs where `variant` is asked for.
constexpr Variant resolved(Variant variant, std::int64_t classes) {
  if (variant != Variant::automatic) return variant;
  return classes <= kWarpMaxClasses ? Variant::warp : Variant::block;
}

using kg::name;

// Enqueues the operation and returns the variant that runs. T: float, f16, bf16. Throws Error on a
// negative extent, no classes, a stride below classes, a null pointer where one is needed, a
// label_smoothing outside of [0, 1], a z_loss that is negative or not finite, or an output that
// overlaps the logits, the targets or the other output.
template <class T>
Variant run(const Problem<T>& problem, Variant variant, Stream& stream);

// Longest sequential chain of additions in a row's sum: what the error bound grows with.
std::int64_t chain(Variant variant, std::int64_t classes);

// Each logit and target read once, a loss and where wanted lse written; about four operations per
// logit (maximum, difference, exponential, addition), two more under smoothing.
template <class T>
Work work(const Problem<T>& problem);

} // namespace kg::cross_entropy
