// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// rmsnorm and layernorm beside every vendor that has them. A Norm says by `vendors` which those
// are, `run_vendor` is the call, and `condition` what an element's error is counted in.
#pragma once

#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "tests/normalization_fixture.h"
#include "tests/oracle/vendor_comparison.h"
#include "tests/support/vendor_runs.h"

namespace kg::test {

template <typename Case>
class NormBesideVendors : public NormForward<Case> {};
TYPED_TEST_SUITE_P(NormBesideVendors);

TYPED_TEST_P(NormBesideVendors, RandomAgainstVendors) {
  using T = typename TypeParam::T;
  using Norm = typename TypeParam::Norm;
  const std::vector<std::string_view> vendors = Norm::vendors(this->kDtype);
  if (vendors.empty()) report_no_vendor(Norm::kName, this->kDtype);
  for (const Size size : {Size{64, 200}, Size{17, 1024}, Size{4, 3001}}) {
    const auto in = this->normals(size);
    const NormOracle oracle = this->reference(in).oracle;
    std::vector<double> unit;
    for (std::size_t i = 0; i < oracle.value.size(); ++i)
      unit.push_back(unit_roundoff(Dtype::f32) * Norm::condition(oracle, i) +
                     (this->kDtype == Dtype::f32
                          ? 0
                          : unit_roundoff(this->kDtype) * std::fabs(oracle.value[i])));
    // A library may add its row up one by one.
    const auto vendor_tolerance = this->tolerances(oracle, size.cols);
    for (const Variant variant : kVariants) {
      if (!supports(variant, size.cols)) continue;
      const auto tolerance = this->tolerances(oracle, normalization::chain(variant, size.cols));
      Expectation expected{this->kDtype, {size.rows, size.cols}, oracle.value, tolerance};
      // naive adds a row up one by one: within its bound, though no library is so inaccurate.
      if (variant != Variant::naive) expected.unit = {unit.data(), unit.size()};
      const Observed ours =
          observe(this->run(variant, in).y); // before the vendor writes the same values
      for (const std::string_view vendor : vendors) {
        const auto x = this->upload(in.x, this->stream_);
        const auto gamma = this->upload(in.gamma, this->stream_);
        const auto beta = this->upload(in.beta, this->stream_);
        const DeviceBuffer<T> y(in.x.size());
        if (!vendor_runs([&] {
              Norm::template run_vendor<T>(vendor, x.data(), gamma.data(), beta.data(), in.epsilon,
                                           y.data(), size, this->stream_);
            })) {
          report_no_vendor(Norm::kName, this->kDtype, vendor);
          continue;
        }
        const Observed theirs = observe(y.to_host(this->stream_));
        EXPECT_TRUE(verdict(compare_with_vendor(ours, theirs, expected, vendor_tolerance),
                            this->context(variant, "normal beside " + std::string(vendor), size)));
      }
    }
  }
}

REGISTER_TYPED_TEST_SUITE_P(NormBesideVendors, RandomAgainstVendors);

} // namespace kg::test
