// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Places a model's tensors in one arena. Tensors with disjoint lifetimes share memory.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace kg::models {

// A tensor lives from the first step that writes it to the last one that reads it, both included.
struct Lifetime {
  std::int64_t bytes = 0;
  std::int64_t first = 0;
  std::int64_t last = 0;
};

struct Placement {
  std::vector<std::int64_t> offsets; // multiples of kAlignment, in the order of the lifetimes
  std::int64_t bytes = 0;            // of the arena
  std::int64_t most_live = 0;        // peak over the steps of live bytes: a lower bound on `bytes`
};

inline constexpr std::int64_t kAlignment = 256; // the alignment of an Allocation

// Places the largest tensor first, each in the smallest sufficient gap between the placed tensors
// with overlapping lifetimes: "greedy by size" of Pisarchyk and Lee, "Efficient memory management
// for deep neural net inference", arXiv 2001.03288. The problem is NP-hard; the paper finds this
// order within a few percent of `most_live` for real networks. Throws Error on a negative size or
// if `last` precedes `first`.
Placement place(std::span<const Lifetime> lifetimes);

} // namespace kg::models
