// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The five grades of a ratio. Timings, costs and comparisons with libraries all use these.
#pragma once

#include <limits>
#include <string_view>

namespace kg::judge {

enum class Grade { excellent, good, fair, poor, critical };

// The lowest ratio (baseline / measured, higher is better) of each grade. Below kPoor is critical.
inline constexpr double kExcellent = 0.90;
inline constexpr double kGood = 0.70;
inline constexpr double kFair = 0.50;
inline constexpr double kPoor = 0.20;

inline constexpr Grade kGrades[] = {Grade::excellent, Grade::good, Grade::fair, Grade::poor,
                                    Grade::critical};

// A NaN compares false with everything and gets the worst grade.
constexpr Grade grade(double ratio) {
  if (ratio >= kExcellent) return Grade::excellent;
  if (ratio >= kGood) return Grade::good;
  if (ratio >= kFair) return Grade::fair;
  if (ratio >= kPoor) return Grade::poor;
  return Grade::critical;
}

constexpr std::string_view name(Grade grade) {
  switch (grade) {
  case Grade::excellent: return "excellent";
  case Grade::good: return "good";
  case Grade::fair: return "fair";
  case Grade::poor: return "poor";
  case Grade::critical: return "critical";
  }
  return "";
}

// baseline / measured of two costs >= 0. 0 -> 0 is 1 (unchanged), 0 -> positive is 0 (worst), and
// positive -> 0 is infinity (best).
constexpr double cost_ratio(double baseline, double measured) {
  if (measured == 0) return baseline == 0 ? 1.0 : std::numeric_limits<double>::infinity();
  return baseline / measured;
}

} // namespace kg::judge
