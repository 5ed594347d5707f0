// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// rmsnorm_backward and layernorm_backward beside every vendor that has them. A Norm says by
// `vendors` which those are, by `vendor_sums` in which type they give the columns' gradients, and
// `run_vendor` is the call.
#pragma once

#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "tests/normalization_backward_fixture.h"
#include "tests/oracle/vendor_comparison.h"
#include "tests/support/vendor_runs.h"

namespace kg::test {

// What a vendor is given and gives back. variance is 1 / rstd^2, for an epsilon of 0.
template <class T>
struct VendorGradients {
  DeviceBuffer<T> dy, x, gamma;
  DeviceBuffer<float> mean, rstd, variance;
  DeviceBuffer<T> dx;
  DeviceBuffer<T> dgamma, dbeta;         // of a vendor whose sums are of type T
  DeviceBuffer<float> dgamma32, dbeta32; // or of f32
  Size size;
};

template <typename Case>
class NormBackwardBesideVendors : public NormBackward<Case> {};
TYPED_TEST_SUITE_P(NormBackwardBesideVendors);

// Statistics that a library's variance gives exactly: rstd 1, 1/2 and 2.
TYPED_TEST_P(NormBackwardBesideVendors, RandomAgainstVendors) {
  using T = typename TypeParam::T;
  using Norm = typename TypeParam::Norm;
  const std::vector<std::string_view> vendors = Norm::vendors(this->kDtype);
  if (vendors.empty()) report_no_vendor(Norm::kName, this->kDtype);
  const double u = unit_roundoff(Dtype::f32);
  for (const Size size : {Size{64, 200}, Size{17, 1024}, Size{3, this->beyond_block()}}) {
    auto in = this->normals(size);
    std::vector<float> variance;
    for (std::size_t r = 0; r < in.rstd.size(); ++r) {
      in.rstd[r] = r % 3 == 0 ? 1.0f : r % 3 == 1 ? 0.5f : 2.0f;
      variance.push_back(1 / (in.rstd[r] * in.rstd[r]));
    }
    const NormBackwardOracle oracle = this->reference(in);
    // What an element is conditioned on; see norm_backward_dx_f32_tolerance.
    std::vector<double> unit;
    for (std::size_t i = 0; i < oracle.dx.size(); ++i)
      unit.push_back(
          u * (oracle.direct[i] + oracle.average[i] + oracle.projection[i]) +
          (this->kDtype == Dtype::f32 ? 0 : unit_roundoff(this->kDtype) * std::fabs(oracle.dx[i])));
    for (const Variant variant : kVariants) {
      if (!supports(variant, size.cols)) continue;
      const auto ours = this->run(variant, in); // before the vendor writes the same values
      for (const std::string_view vendor : vendors) {
        const std::size_t columns = in.gamma.size();
        const VendorGradients<T> d{this->upload(in.dy, this->stream_),
                                   this->upload(in.x, this->stream_),
                                   this->upload(in.gamma, this->stream_),
                                   this->upload(in.mean, this->stream_),
                                   this->upload(in.rstd, this->stream_),
                                   this->upload(variance, this->stream_),
                                   DeviceBuffer<T>(in.x.size()),
                                   DeviceBuffer<T>(columns),
                                   DeviceBuffer<T>(columns),
                                   DeviceBuffer<float>(columns),
                                   DeviceBuffer<float>(columns),
                                   size};
        if (!vendor_runs([&] { Norm::template run_vendor<T>(vendor, d, this->stream_); })) {
          report_no_vendor(Norm::kName, this->kDtype, vendor);
          continue;
        }
        const auto compared = [&](const std::string& what, const Observed& our_values,
                                  const Observed& theirs, const Expectation& expected,
                                  const std::vector<double>& vendor_tolerance) {
          EXPECT_TRUE(verdict(compare_with_vendor(our_values, theirs, expected, vendor_tolerance),
                              this->context(variant, what + " beside " + std::string(vendor), size,
                                            expected.shape)));
        };
        // A library may add one by one.
        const auto tolerance = norm_backward_dx_tolerances(
            oracle, this->kDtype, normalization::backward::row_chain(variant, size.cols));
        Expectation expected{this->kDtype, {size.rows, size.cols}, oracle.dx, tolerance};
        if (variant != Variant::naive) expected.unit = {unit.data(), unit.size()};
        compared("dx", observe(ours.dx), observe(d.dx.to_host(this->stream_)), expected,
                 norm_backward_dx_tolerances(oracle, this->kDtype, size.cols));
        if (Norm::vendor_sums(vendor, this->kDtype) != this->kDtype) continue;
        const auto sums = [&](const std::string& what, const std::vector<T>& values,
                              const DeviceBuffer<T>& theirs, const std::vector<double>& sum,
                              const std::vector<double>& sum_abs) {
          const auto bound = norm_backward_column_tolerances(
              sum, sum_abs, this->kDtype,
              normalization::backward::column_chain(variant, size.rows, size.cols));
          compared(what, observe(values), observe(theirs.to_host(this->stream_)),
                   {this->kDtype, {size.cols}, sum, bound},
                   norm_backward_column_tolerances(sum, sum_abs, this->kDtype, size.rows));
        };
        sums("dgamma", ours.dgamma, d.dgamma, oracle.dgamma, oracle.dgamma_abs);
        if (Norm::kCentred) sums("dbeta", ours.dbeta, d.dbeta, oracle.dbeta, oracle.dbeta_abs);
      }
    }
  }
}

REGISTER_TYPED_TEST_SUITE_P(NormBackwardBesideVendors, RandomAgainstVendors);

} // namespace kg::test
