// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/judge/power_fit.h"

#include "runtime/error.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace kg::judge {
namespace {

// The 97.5 % points of Student's t with 1, 2, ... degrees of freedom (NIST/SEMATECH e-Handbook of
// Statistical Methods, 1.3.6.7.2). Beyond 10 degrees, that of 10, which is conservative.
double student(std::size_t degrees) {
  constexpr std::array<double, 10> kPoints = {12.706, 4.303, 3.182, 2.776, 2.571,
                                              2.447,  2.365, 2.306, 2.262, 2.228};
  return kPoints[std::min(degrees, kPoints.size()) - 1];
}

std::vector<double> logarithms(const std::vector<double>& values) {
  std::vector<double> logs;
  for (const double value : values) {
    require(value > 0 && std::isfinite(value), "fit_power: a size or a value is not above 0");
    logs.push_back(std::log(value));
  }
  return logs;
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

} // namespace

PowerFit fit_power(const std::vector<double>& sizes, const std::vector<double>& values) {
  require(sizes.size() == values.size() && sizes.size() >= 3,
          "fit_power: three sizes or more are needed, each with a value");
  const std::vector<double> x = logarithms(sizes), y = logarithms(values);
  const double x0 = mean(x), y0 = mean(y);
  double squares = 0, products = 0, left = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    squares += (x[i] - x0) * (x[i] - x0);
    products += (x[i] - x0) * (y[i] - y0);
  }
  require(squares > 0, "fit_power: the sizes are all the same");
  const double slope = products / squares;
  for (std::size_t i = 0; i < x.size(); ++i) left += std::pow(y[i] - y0 - slope * (x[i] - x0), 2);
  const std::size_t degrees = x.size() - 2;
  return {slope, student(degrees) * std::sqrt(left / static_cast<double>(degrees) / squares)};
}

} // namespace kg::judge
