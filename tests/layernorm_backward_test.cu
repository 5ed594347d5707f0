// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// layernorm_backward against the oracle and every vendor.
#include "tests/normalization_backward_tests.h"
#include "tests/support/vendor.h"
#include "vendor/layernorm_backward/layernorm_backward.h"

#include "layernorm_backward/layernorm_backward.h"

namespace kg::test {
namespace {

struct LayerNorm {
  static constexpr const char* kName = "layernorm_backward";
  static constexpr bool kCentred = true;

  static std::size_t workspace_bytes(Variant variant, std::int64_t rows, std::int64_t cols) {
    return layernorm_backward::workspace_bytes(variant, rows, cols);
  }
  template <class T>
  static Variant run(MatrixView<const T> dy, MatrixView<const T> x, const T* gamma,
                     const float* mean, const float* rstd, MatrixView<T> dx, T* dgamma, T* dbeta,
                     void* workspace, Variant variant, Stream& stream) {
    return layernorm_backward::run<T>(dy, x, gamma, mean, rstd, dx, dgamma, dbeta, workspace,
                                      variant, stream);
  }
};

INSTANTIATE_TYPED_TEST_SUITE_P(LayerNormBackward, NormBackward, NormTypes<LayerNorm>, NormNames);

template <typename Case>
class LayerNormBackward : public NormBackward<Case> {};
TYPED_TEST_SUITE(LayerNormBackward, NormTypes<LayerNorm>, NormNames);

// Statistics that a library's variance gives exactly: rstd 1, 1/2 and 2.
TYPED_TEST(LayerNormBackward, RandomAgainstVendors) {
  using T = typename TypeParam::T;
  const auto vendors = vendor::layernorm_backward_variants(this->kDtype);
  if (vendors.empty()) report_no_vendor("layernorm_backward", this->kDtype);
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
        const auto dy = this->upload(in.dy, this->stream_);
        const auto x = this->upload(in.x, this->stream_);
        const auto gamma = this->upload(in.gamma, this->stream_);
        const auto mean = this->upload(in.mean, this->stream_);
        const auto spread = this->upload(variance, this->stream_);
        const DeviceBuffer<T> dx(in.x.size());
        const DeviceBuffer<float> dgamma(in.gamma.size());
        const DeviceBuffer<float> dbeta(in.gamma.size());
        vendor::layernorm_backward(vendor, this->kDtype,
                                   {dy.data(), x.data(), gamma.data(), mean.data(), spread.data(),
                                    0, dx.data(), dgamma.data(), dbeta.data(), size.rows,
                                    size.cols},
                                   this->stream_);
        const auto compared = [&](const std::string& what, Dtype theirs_are,
                                  const Observed& our_values, const Observed& theirs,
                                  const Expectation& expected,
                                  const std::vector<double>& vendor_tolerance) {
          if (theirs_are != this->kDtype) return; // sums of 16-bit types are f32 there
          EXPECT_TRUE(verdict(compare_with_vendor(our_values, theirs, expected, vendor_tolerance),
                              this->context(variant, what + " beside " + std::string(vendor), size,
                                            expected.shape)));
        };
        // A library may add one by one.
        const auto tolerance = norm_backward_dx_tolerances(
            oracle, this->kDtype, normalization::backward::row_chain(variant, size.cols));
        Expectation expected{this->kDtype, {size.rows, size.cols}, oracle.dx, tolerance};
        if (variant != Variant::naive) expected.unit = {unit.data(), unit.size()};
        compared("dx", this->kDtype, observe(ours.dx), observe(dx.to_host(this->stream_)), expected,
                 norm_backward_dx_tolerances(oracle, this->kDtype, size.cols));
        const auto columns = [&](const std::string& what, const std::vector<T>& values,
                                 const DeviceBuffer<float>& theirs, const std::vector<double>& sums,
                                 const std::vector<double>& sums_abs) {
          const auto bound = norm_backward_column_tolerances(
              sums, sums_abs, this->kDtype,
              normalization::backward::column_chain(variant, size.rows, size.cols));
          compared(what, Dtype::f32, observe(values), observe(theirs.to_host(this->stream_)),
                   {this->kDtype, {size.cols}, sums, bound},
                   norm_backward_column_tolerances(sums, sums_abs, this->kDtype, size.rows));
        };
        columns("dgamma", ours.dgamma, dgamma, oracle.dgamma, oracle.dgamma_abs);
        columns("dbeta", ours.dbeta, dbeta, oracle.dbeta, oracle.dbeta_abs);
      }
    }
  }
}

TYPED_TEST(LayerNormBackward, RefusesAMissingMean) {
  using T = typename TypeParam::T;
  const DeviceBuffer<T> data(32);
  const DeviceBuffer<float> rstd(4);
  const auto in = kg::matrix<const T>(data.data(), 4, 8);
  EXPECT_THROW(layernorm_backward::run<T>(in, in, nullptr, nullptr, rstd.data(),
                                          kg::matrix<T>(data.data(), 4, 8), nullptr, nullptr,
                                          nullptr, Variant::automatic, this->stream_),
               Error);
}

TYPED_TEST(LayerNormBackward, WorkIsTwoReadsAndOneWrite) {
  const Work work = layernorm_backward::work(this->kDtype, 10, 100);
  EXPECT_EQ(work.bytes, 3300.0 * static_cast<double>(size_of(this->kDtype)) + 80);
  EXPECT_EQ(work.flops, 13000.0);
}

} // namespace
} // namespace kg::test
