// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The five grades and the ratio that they band. Every grade anywhere (timing, cost, standing) comes
// from here.
#pragma once

#include <limits>
#include <string_view>

namespace kg::judge {

enum class Grade { excellent, good, fair, poor, critical };

// The lowest ratio (baseline / measured, higher is better) of each grade; below poor lies critical.
inline constexpr double kExcellent = 0.90;
inline constexpr double kGood = 0.70;
inline constexpr double kFair = 0.50;
inline constexpr double kPoor = 0.20;

inline constexpr Grade kGrades[] = {Grade::excellent, Grade::good, Grade::fair, Grade::poor,
                                    Grade::critical};

// Written so that a NaN, which compares false with everything, ends at the worst grade.
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

// baseline / measured of two costs >= 0. Nothing that stays nothing is as good as before (1);
// nothing that becomes something is as bad as can be (0); something that becomes nothing is better
// than any ratio can say (infinity).
constexpr double cost_ratio(double baseline, double measured) {
  if (measured == 0) return baseline == 0 ? 1.0 : std::numeric_limits<double>::infinity();
  return baseline / measured;
}

} // namespace kg::judge
