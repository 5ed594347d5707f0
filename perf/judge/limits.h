// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The lines that the judge draws, beside the five bands of bands.h. Ratios are baseline / measured:
// below 1 is slower.
#pragma once

#include "perf/judge/bands.h"
#include "perf/judge/row.h"

#include <cstddef>

namespace kg::judge {

struct Limits {
  // A canary within this factor of its blessed time, and whose own interval is at most this wide
  // (half, as a share of the median), is healthy: what it says about the machine can be believed.
  double canary_factor;
  double canary_half_width;
  // A row whose interval is wider (half, as a share of the median) is too noisy to bless.
  double bless_half_width;
  // Modes (statistics.h) closer than this share of the median do not matter.
  double bimodal_gap;
  // The tolerance that a newly blessed row gets, in percent of its time: the slow-down that a
  // confirmation lets pass.
  double tol_pct;
  // The fewest fresh processes from which a row that can fail may be blessed: they tell the screen
  // how processes scatter.
  std::size_t bless_processes;
  // A row this slow beside a healthy canary fails without being confirmed: a machine cannot hide
  // that much.
  double fails;
};

// Host. A row is compared with its canary's time, on whatever CPU it runs. The factor 2: clocks and
// generations of one class of machine differ by less, and within it a kernel and a canary of the
// same kind slow down alike; beyond it the machine is of another class (another instruction set, an
// emulator, half its cores stolen) and the quotient says nothing. The 20 %: a canary
// wrong by that much moves a ratio from the suspicious line (0.70) to 0.58, still above the failing
// line (0.50), so a healthy canary cannot by itself fail a row that is not even suspicious. On two
// shared cores the memory canary's interval is 5 to 16 %, the others' 0.3 to 2 %. A row may be
// blessed with 30 %: five process medians have no narrower 99 % interval than their extremes, and a
// row fails unconfirmed only where its whole ratio interval lies below the line. The tolerance is
// the confirmation's, whose pairs run on one machine: 3 %, since shared cores scatter more than a
// GPU.
inline constexpr Limits kHostLimits = {2.0, 0.20, 0.30, 0.15, 3, 5, 0.50};

// GPU. Rows are compared in time, so the machine must be the one that was blessed: canaries within
// 2 %, and as sure of that. The default tolerance of 2 % is one that the confirmation by
// interleaved runs can decide.
inline constexpr Limits kGpuLimits = {1.02, 0.02, 0.05, 0.02, 2, 10, 0.70};

constexpr const Limits& limits(Device device) {
  return device == Device::host ? kHostLimits : kGpuLimits;
}

// Slower than this is suspicious whatever the scatter; on a host other than the blessed one, and of
// one run, nothing else is.
inline constexpr double kSuspicious = kGood;

// Faster than this is called improved.
inline constexpr double kHostImproves = 1 / kGood;
inline constexpr double kGpuImproves = 1.03;

// The screen's one-sided t test. An alpha this generous costs confirmations, not false alarms. So
// few processes scatter by chance less than the least that is believed, as a share of the time.
inline constexpr std::size_t kScreenProcesses = 3;
inline constexpr double kScreenAlpha = 0.10;
inline constexpr double kLeastScatter = 0.003;

// Canary drift up to here is noise of the canary; beyond, GPU times are divided by it.
inline constexpr double kDriftNoise = 0.01;

// With this probability a slow-down that is called detectable is found.
inline constexpr double kPower = 0.9;

} // namespace kg::judge
