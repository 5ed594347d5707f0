// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A machine of known truth: kernels whose true times are given, noise from a seeded model, and a
// gate around it from the first measurement to the final verdict. No clock is read.
#pragma once

#include "perf/judge/suspects.h"
#include "tests/unit/perf/judge/noise_model.h"

#include <map>
#include <random>
#include <string>
#include <vector>

namespace kg::judge::test {

using Truth = std::map<RowKey, double>; // ns of each row, on a machine at its usual speed

inline constexpr const char* kVendor = "cublas"; // the variant that is a library's

struct FakeDevice {
  Device device = Device::gpu;
  NoiseModel noise = kTypical;
  double slower = 0;         // the machine today, as a share of every kernel's time
  double canary_slower = 0;  // what its canary sees of that
  double drift = 0;          // in the course of a confirmation
  double control_slower = 0; // a second copy of one build that is not like the first
  std::map<std::string, std::string> tags;
  std::string library = "cublas 13.0.1"; // what kVendor's rows are of
  std::mt19937_64 random = std::mt19937_64(20261121);

  // Every row in as many fresh processes, merged.
  std::vector<Measured> measure(const Truth& truth, std::size_t processes);

  // Rounds of A, B and control, mirrored from round to round.
  PairedTimes pairs(double a_ns, double b_ns, std::size_t count);
};

// What is blessed on the device: a file of one op. Expects that nothing is refused.
TimingFile bless_on(FakeDevice& device, const Truth& truth);

// All rows of `truth`, as the program would know them.
std::vector<Registered> registered_rows(const Truth& truth);

// Screens five processes, confirms what is suspicious against builds of the `blessed` truth in two
// looks, and folds.
GateResult gate_on(FakeDevice& device, const Truth& now, const Truth& blessed,
                   const TimingFile& file, bool strict = false);

} // namespace kg::judge::test
