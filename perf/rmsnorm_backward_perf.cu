// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/normalization_backward_case.h"
#include "vendor/rmsnorm_backward/rmsnorm_backward.h"

#include "rmsnorm_backward/rmsnorm_backward.h"

namespace kg::perf {
namespace {

struct RmsNormBackward {
  static constexpr bool kCentred = false;

  static Work work(Dtype dtype, std::int64_t rows, std::int64_t cols) {
    return rmsnorm_backward::work(dtype, rows, cols);
  }
  static std::size_t workspace_bytes(normalization::backward::Variant variant, std::int64_t rows,
                                     std::int64_t cols) {
    return rmsnorm_backward::workspace_bytes(variant, rows, cols);
  }
  template <class T>
  static void run(const NormBackwardData<T>& d, normalization::backward::Variant variant,
                  Stream& stream) {
    rmsnorm_backward::run<T>(matrix<const T>(d.dy.data(), d.rows, d.cols),
                             matrix<const T>(d.x.data(), d.rows, d.cols), d.gamma.data(),
                             d.rstd.data(), matrix<T>(d.dx.data(), d.rows, d.cols), d.dgamma.data(),
                             d.workspace.data(), variant, stream);
  }
  static std::vector<std::string_view> vendors(Dtype dtype) {
    return vendor::rmsnorm_backward_variants(dtype);
  }
  static Dtype vendor_sums(std::string_view, Dtype dtype) { return dtype; }
  template <class T, class Sum>
  static void run_vendor(const NormBackwardData<T, Sum>& d, std::string_view variant,
                         Stream& stream) {
    vendor::rmsnorm_backward(variant, dtype_of<T>,
                             {d.dy.data(), d.x.data(), d.gamma.data(), d.rstd.data(), d.dx.data(),
                              d.dgamma.data(), d.rows, d.cols},
                             stream);
  }
};

} // namespace

Operation rmsnorm_backward_operation() {
  return norm_backward_operation<RmsNormBackward>("rmsnorm_backward");
}

} // namespace kg::perf
