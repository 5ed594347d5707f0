// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// rmsnorm_backward against the oracle. No vendor has it here, as none has the forward pass.
#include "tests/normalization_backward_tests.h"

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
};

INSTANTIATE_TYPED_TEST_SUITE_P(RmsNormBackward, NormBackward, NormTypes<RmsNorm>, NormNames);

template <typename Case>
class RmsNormBackward : public NormBackward<Case> {};
TYPED_TEST_SUITE(RmsNormBackward, NormTypes<RmsNorm>, NormNames);

TYPED_TEST(RmsNormBackward, NoVendor) { report_no_vendor("rmsnorm_backward", this->kDtype); }

TYPED_TEST(RmsNormBackward, WorkIsTwoReadsAndOneWrite) {
  const Work work = rmsnorm_backward::work(this->kDtype, 10, 100);
  EXPECT_EQ(work.bytes, 3200.0 * static_cast<double>(size_of(this->kDtype)) + 40);
  EXPECT_EQ(work.flops, 9000.0);
}

} // namespace
} // namespace kg::test
