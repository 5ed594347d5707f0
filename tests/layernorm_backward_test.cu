// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// layernorm_backward against the oracle and every vendor.
#include "tests/normalization_backward_tests.h"
#include "tests/normalization_backward_vendor_tests.h"
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

  static std::vector<std::string_view> vendors(Dtype dtype) {
    return vendor::layernorm_backward_variants(dtype);
  }
  static Dtype vendor_sums(std::string_view vendor, Dtype dtype) {
    return vendor::layernorm_backward_sums(vendor, dtype);
  }
  template <class T>
  static void run_vendor(std::string_view vendor, const VendorGradients<T>& d, Stream& stream) {
    const bool own = vendor_sums(vendor, dtype_of<T>) == dtype_of<T>;
    void* const dgamma = own ? static_cast<void*>(d.dgamma.data()) : d.dgamma32.data();
    void* const dbeta = own ? static_cast<void*>(d.dbeta.data()) : d.dbeta32.data();
    vendor::layernorm_backward(vendor, dtype_of<T>,
                               {d.dy.data(), d.x.data(), d.gamma.data(), d.mean.data(),
                                d.variance.data(), 0, d.rstd.data(), d.dx.data(), dgamma, dbeta,
                                d.size.rows, d.size.cols},
                               stream);
  }
};

INSTANTIATE_TYPED_TEST_SUITE_P(LayerNormBackward, NormBackward, NormTypes<LayerNorm>, NormNames);
INSTANTIATE_TYPED_TEST_SUITE_P(LayerNormBackward, NormBackwardBesideVendors, NormTypes<LayerNorm>,
                               NormNames);

template <typename Case>
class LayerNormBackward : public NormBackward<Case> {};
TYPED_TEST_SUITE(LayerNormBackward, NormTypes<LayerNorm>, NormNames);

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
