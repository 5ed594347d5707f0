// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The problem of batchnorm, its backward pass and the vendor libraries. Plain C++.
#pragma once

#include "primitives/layout.h"
#include "runtime/error.h"
#include "runtime/preconditions.h"

#include <cmath>
#include <cstdint>
#include <string>

namespace kg::batchnorm {

using kg::Layout;

// A dense tensor of batch x channels x spatial elements; the spatial axes count as one.
struct Problem {
  std::int64_t batch = 1;
  std::int64_t channels = 1;
  std::int64_t spatial = 1;
  Layout layout = Layout::nchw;

  constexpr std::int64_t per_channel() const { return batch * spatial; }
  constexpr std::int64_t elements() const { return per_channel() * channels; }
};

// Throws Error for a negative extent. `what` begins the message.
inline void require_problem(const std::string& what, const Problem& problem) {
  require_extent(what + ": batch", problem.batch);
  require_extent(what + ": channels", problem.channels);
  require_extent(what + ": spatial", problem.spatial);
}

inline void require_epsilon(const std::string& what, float epsilon) {
  require(epsilon >= 0 && std::isfinite(epsilon), what + ": epsilon is " + std::to_string(epsilon) +
                                                      "; it must be finite and not negative");
}

} // namespace kg::batchnorm
