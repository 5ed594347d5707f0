// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/oracle/vendor_comparison.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

namespace kg::test {

bool VendorComparison::passed() const {
  return ours.passed() && direct.passed() && !another_problem &&
         (!ratio_applies || (ours.max_error <= max_limit && ours.rms_error <= rms_limit));
}

std::string VendorComparison::text() const {
  std::string text;
  if (vendor_inaccurate)
    text += fmt::format("vendor_inaccurate: the vendor's result is outside its bound: {}",
                        vendor.text());
  if (another_problem)
    text += fmt::format("{} of {} elements are off by more than {} times the vendor's bound: it "
                        "solved another problem; look at its wrapper in kernels/libraries\n",
                        vendor_far_outside, vendor.compared, kFar);
  if (!ours.passed()) text += fmt::format("against the oracle: {}", ours.text());
  if (!direct.passed()) text += fmt::format("against the vendor: {}", direct.text());
  if (ratio_applies && !(ours.max_error <= max_limit))
    text += fmt::format("less accurate than the vendor: largest error {:.3g} units, allowed {:.3g} "
                        "(the vendor's: {:.3g})\n",
                        ours.max_error, max_limit, vendor.max_error);
  if (ratio_applies && !(ours.rms_error <= rms_limit))
    text +=
        fmt::format("less accurate than the vendor: RMS error {:.3g} units, allowed {:.3g} (the "
                    "vendor's: {:.3g})\n",
                    ours.rms_error, rms_limit, vendor.rms_error);
  return text;
}

VendorComparison compare_with_vendor(const Observed& ours, const Observed& vendor,
                                     const Expectation& expected,
                                     std::span<const double> vendor_tolerance) {
  Expectation vendor_expected = expected;
  if (!vendor_tolerance.empty()) vendor_expected.tolerance = vendor_tolerance;

  VendorComparison result{compare(ours, expected), compare(vendor, vendor_expected), {}};
  result.vendor_outside = result.vendor.failed;
  result.vendor_inaccurate = result.vendor_outside > 0;

  // The oracle alone judges two kinds of elements, for which the direct comparison uses our own
  // value as reference. First, elements where the vendor is outside its bound. Second, elements
  // that the vendor correctly stored as infinity at the end of the format's range: ours may be the
  // largest finite number. The oracle alone judges the sign of zero as well.
  std::vector<double> reference(vendor.values);
  std::vector<double> tolerance(reference.size());
  for (std::size_t i = 0; i < reference.size(); ++i)
    tolerance[i] = expected.tolerance_at(i) + vendor_expected.tolerance_at(i);
  for (std::size_t i = 0; i < reference.size(); ++i)
    if (std::isinf(reference[i]) && std::isfinite(expected.value[i])) reference[i] = ours.values[i];
  for (const std::int64_t index : result.vendor.failures) {
    const auto i = static_cast<std::size_t>(index);
    reference[i] = ours.values[i];
    const double error = std::fabs(vendor.values[i] - expected.value[i]);
    if (!(error <= VendorComparison::kFar * vendor_expected.tolerance_at(i)))
      ++result.vendor_far_outside;
  }
  result.another_problem = result.vendor_far_outside * 100 > result.vendor.compared;
  const Expectation direct{expected.dtype, expected.shape, reference, tolerance};
  result.direct = compare(ours, direct);

  constexpr double kMaxRatio = 2;
  constexpr double kMaxFloor = 8;
  constexpr double kRmsRatio = 1.5;
  constexpr double kRmsFloor = 1;
  result.ratio_applies = !expected.unit.empty() && !result.vendor_inaccurate;
  result.max_limit = std::max(kMaxRatio * result.vendor.max_error, kMaxFloor);
  result.rms_limit = std::max(kRmsRatio * result.vendor.rms_error, kRmsFloor);
  return result;
}

} // namespace kg::test
