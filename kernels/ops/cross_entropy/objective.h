// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The objective that cross_entropy and its gradient share: targets, label smoothing and z-loss.
#pragma once

#include "ops/gather/indices.h"
#include "runtime/error.h"
#include "runtime/preconditions.h"

#include <cmath>
#include <cstdint>
#include <string>

namespace kg::cross_entropy {

struct Objective {
  // Each row's class, in 32 or 64 bits, or `ignored`.
  gather::Indices target = static_cast<const std::int32_t*>(nullptr);
  std::int64_t ignored = -100;
  float label_smoothing = 0; // weight that is spread evenly over all classes
  float z_loss = 0;          // factor of the squared log-sum-exp of a row
};

inline constexpr std::int64_t kIgnored = -1;

// The class of a row, or kIgnored. Traps on any other target.
__device__ inline std::int64_t class_of(const Objective& objective, std::int64_t row,
                                        std::int64_t classes) {
  const std::int64_t target = objective.target[row];
  if (target == objective.ignored) return kIgnored;
  if (target < 0 || target >= classes) __trap();
  return target;
}

// The weight that label smoothing gives to each class.
inline double weight_of_each(const Objective& objective, std::int64_t classes) {
  return static_cast<double>(objective.label_smoothing) / static_cast<double>(classes);
}

// Error messages name the operation `op`.
inline void require_valid(const std::string& op, const Objective& objective, std::int64_t rows,
                          std::int64_t classes) {
  require_extent(op + ": rows", rows);
  require_extent(op + ": classes", classes);
  require(rows == 0 || classes > 0, op + ": classes is 0; rows need a class to be of");
  require(objective.label_smoothing >= 0 && objective.label_smoothing <= 1,
          op + ": label_smoothing is " + std::to_string(objective.label_smoothing) +
              "; it must be from 0 to 1");
  require(objective.z_loss >= 0 && std::isfinite(objective.z_loss),
          op + ": z_loss is " + std::to_string(objective.z_loss) +
              "; it must be finite and not negative");
  require_elements(op + ": target", objective.target.data(), rows);
}

} // namespace kg::cross_entropy
