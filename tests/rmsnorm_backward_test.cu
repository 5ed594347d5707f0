// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// rmsnorm_backward against the oracle and every vendor.
#include "tests/normalization_backward_tests.h"
#include "tests/normalization_backward_vendor_tests.h"
#include "vendor/rmsnorm_backward/rmsnorm_backward.h"

#include "rmsnorm_backward/rmsnorm_backward.h"

namespace kg::test {
namespace {

struct RmsNorm {
  static constexpr const char* kName = "rmsnorm_backward";
  static constexpr bool kCentred = false;

  static std::size_t workspace_bytes(Variant variant, std::int64_t rows, std::int64_t cols) {
    return rmsnorm_backward::workspace_bytes(variant, rows, cols);
  }
  template <class T>
  static Variant run(MatrixView<const T> dy, MatrixView<const T> x, const T* gamma, const float*,
                     const float* rstd, MatrixView<T> dx, T* dgamma, T*, void* workspace,
                     Variant variant, Stream& stream) {
    return rmsnorm_backward::run<T>(dy, x, gamma, rstd, dx, dgamma, workspace, variant, stream);
  }

  static std::vector<std::string_view> vendors(Dtype dtype) {
    return vendor::rmsnorm_backward_variants(dtype);
  }
  static Dtype vendor_sums(std::string_view, Dtype dtype) { return dtype; }
  template <class T>
  static void run_vendor(std::string_view vendor, const VendorGradients<T>& d, Stream& stream) {
    vendor::rmsnorm_backward(vendor, dtype_of<T>,
                             {d.dy.data(), d.x.data(), d.gamma.data(), d.rstd.data(), d.dx.data(),
                              d.dgamma.data(), d.size.rows, d.size.cols},
                             stream);
  }
};

INSTANTIATE_TYPED_TEST_SUITE_P(RmsNormBackward, NormBackward, NormTypes<RmsNorm>, NormNames);
INSTANTIATE_TYPED_TEST_SUITE_P(RmsNormBackward, NormBackwardBesideVendors, NormTypes<RmsNorm>,
                               NormNames);

template <typename Case>
class RmsNormBackward : public NormBackward<Case> {};
TYPED_TEST_SUITE(RmsNormBackward, NormTypes<RmsNorm>, NormNames);

TYPED_TEST(RmsNormBackward, WorkIsTwoReadsAndOneWrite) {
  const Work work = rmsnorm_backward::work(this->kDtype, 10, 100);
  EXPECT_EQ(work.bytes, 3200.0 * static_cast<double>(size_of(this->kDtype)) + 40);
  EXPECT_EQ(work.flops, 9000.0);
}

} // namespace
} // namespace kg::test
