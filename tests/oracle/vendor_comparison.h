// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Our result beside a vendor's. The vendor is judged by the oracle like everyone else: where it is
// outside its bound it is reported as inaccurate, which neither fails our kernel nor widens its
// bound. But a vendor that is far outside it in more than a few elements solved another problem:
// our wrapper is wrong, and nothing was compared. That fails.
#pragma once

#include <span>
#include <string>

#include "tests/oracle/compare.h"

namespace kg::test {

struct VendorComparison {
  Comparison ours;   // against the oracle
  Comparison vendor; // against the oracle
  Comparison direct; // ours against the vendor's, by the sum of both tolerances, where the vendor
                     // is within its own
  std::int64_t vendor_outside = 0;
  bool vendor_inaccurate = false; // vendor_outside > 0
  // Elements that are off by more than kFar times the vendor's bound, and whether they are more
  // than one in a hundred. The most that a library was seen off by is 2.7 times (bf16 softmax of
  // oneDNN, which stores exponentials in bf16); another problem's result is off in nearly all.
  static constexpr double kFar = 16;
  std::int64_t vendor_far_outside = 0;
  bool another_problem = false;
  bool ratio_applies = false; // an inaccurate vendor is no yardstick; nor is an exact expectation
  double max_limit = 0;       // what `ours` may have, in units of the expectation
  double rms_limit = 0;

  // Ours is within its bound, agrees with the vendor wherever that one is right, and is about as
  // accurate; and the vendor solved this problem.
  bool passed() const;
  // The failure in several lines; "" if passed and the vendor is accurate. Begins with
  // "vendor_inaccurate" if it is not.
  std::string text() const;
};

// `expected.tolerance` is ours, `vendor_tolerance` the vendor's (same shape; empty: ours).
// Accuracy: our largest error at most max(2 x the vendor's, 8) units and our RMS error at most
// max(1.5 x the vendor's, 1) units; the floors keep a vendor that is exact by luck from failing a
// legal sequential sum, whose largest of 10^6 is 6.7 units of u * condition (tolerance.h).
// Therefore give `expected.unit` in u * condition; without it the ratio is not judged.
VendorComparison compare_with_vendor(const Observed& ours, const Observed& vendor,
                                     const Expectation& expected,
                                     std::span<const double> vendor_tolerance = {});

} // namespace kg::test
