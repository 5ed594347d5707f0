// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// How the time of one kernel scatters from process to process: a model with known truth, for the
// error rates of the judge. Its shapes (skewed within a process, one offset per process, a second
// mode, wild processes) are those of real timings; its sizes are assumptions.
#pragma once

#include <cmath>
#include <random>

namespace kg::judge::test {

// Standard deviations and shares; logarithms of a time.
struct NoiseModel {
  const char* name = "";
  double within = 0;  // of the samples of one process
  double process = 0; // of one process's offset
  double second_mode_share = 0;
  double second_mode = 0; // how much slower it is
  double wild_share = 0;  // of processes, each slower by up to a half
};

inline constexpr NoiseModel kQuiet = {"quiet", 0.005, 0.002, 0, 0, 0};
inline constexpr NoiseModel kTypical = {"typical", 0.02, 0.007, 0, 0, 0};
inline constexpr NoiseModel kSmall = {"small", 0.06, 0.015, 0, 0, 0};
inline constexpr NoiseModel kBimodal = {"bimodal", 0.02, 0.007, 0.2, 0.06, 0};
inline constexpr NoiseModel kWild = {"wild", 0.02, 0.007, 0, 0, 0.03};

// The logarithm of a process's median over the kernel's true time.
inline double process_offset(const NoiseModel& model, std::mt19937_64& random) {
  constexpr double kSamples = 40;
  const auto uniform = [&] { return std::uniform_real_distribution<double>(0, 1)(random); };
  std::normal_distribution<double> normal;
  // A median of n samples scatters sqrt(pi / 2n) times as much as they do.
  double offset = normal(random) * model.process +
                  normal(random) * model.within * std::sqrt(1.5707963267948966 / kSamples);
  if (uniform() < model.second_mode_share) offset += std::log1p(model.second_mode);
  if (uniform() < model.wild_share) offset += std::log1p(0.5 * uniform());
  return offset;
}

} // namespace kg::judge::test
