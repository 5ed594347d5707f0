// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Compares our result with a vendor's. The oracle judges the vendor as well: a vendor outside its
// bound is reported as inaccurate, which neither fails our kernel nor widens its bound. But a
// vendor that is far outside in more than a few elements solved another problem: our wrapper is
// wrong, and nothing was compared. That fails.
#pragma once

#include <span>
#include <string>

#include "tests/oracle/compare.h"

namespace kg::test {

struct VendorComparison {
  Comparison ours;   // against the oracle
  Comparison vendor; // against the oracle
  Comparison direct; // ours against the vendor's, within the sum of both tolerances, where the
                     // vendor is within its own
  std::int64_t vendor_outside = 0;
  bool vendor_inaccurate = false; // vendor_outside > 0
  // The elements that are off by more than kFar times the vendor's bound, and whether they exceed 1
  // %. The largest error seen in a library is 2.7 bounds (bf16 softmax of oneDNN, which stores
  // exponentials in bf16); another problem's result differs in nearly all elements.
  static constexpr double kFar = 16;
  std::int64_t vendor_far_outside = 0;
  bool another_problem = false;
  bool ratio_applies = false; // false for an inaccurate vendor and for exact expectations
  double max_limit = 0;       // limit for `ours`, in units of the expectation
  double rms_limit = 0;

  // Our result is within its bound, agrees with the vendor wherever the vendor is correct, and is
  // about as accurate; and the vendor solved this problem.
  bool passed() const;
  // The failure as several lines; "" if passed and the vendor is accurate. Begins with
  // "vendor_inaccurate" if the vendor is not.
  std::string text() const;
};

// `expected.tolerance` is ours, `vendor_tolerance` the vendor's (same shape; empty: ours).
// Accuracy: our largest error is at most max(2 x the vendor's, 8) units, our RMS error at most
// max(1.5 x the vendor's, 1) units. The floors keep a vendor that is exact by chance from failing a
// legal sequential sum, whose largest of 10^6 is 6.7 units of u * condition (tolerance.h). So pass
// `expected.unit` in u * condition; without it the ratio is not checked.
VendorComparison compare_with_vendor(const Observed& ours, const Observed& vendor,
                                     const Expectation& expected,
                                     std::span<const double> vendor_tolerance = {});

} // namespace kg::test
