// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/normalization_backward_case.h"
#include "vendor/layernorm_backward/layernorm_backward.h"

#include "layernorm_backward/layernorm_backward.h"

namespace kg::perf {
namespace {

struct LayerNormBackward {
  static constexpr bool kCentred = true;

  static Work work(Dtype dtype, std::int64_t rows, std::int64_t cols) {
    return layernorm_backward::work(dtype, rows, cols);
  }
  static std::size_t workspace_bytes(normalization::backward::Variant variant, std::int64_t rows,
                                     std::int64_t cols) {
    return layernorm_backward::workspace_bytes(variant, rows, cols);
  }
  template <class T>
  static void run(const NormBackwardData<T>& d, normalization::backward::Variant variant,
                  Stream& stream) {
    layernorm_backward::run<T>(
        matrix<const T>(d.dy.data(), d.rows, d.cols), matrix<const T>(d.x.data(), d.rows, d.cols),
        d.gamma.data(), d.mean.data(), d.rstd.data(), matrix<T>(d.dx.data(), d.rows, d.cols),
        d.dgamma.data(), d.dbeta.data(), d.workspace.data(), variant, stream);
  }
  static std::vector<std::string_view> vendors(Dtype dtype) {
    return vendor::layernorm_backward_variants(dtype);
  }
  static Dtype vendor_sums(std::string_view variant, Dtype dtype) {
    return vendor::layernorm_backward_sums(variant, dtype);
  }
  template <class T, class Sum>
  static void run_vendor(const NormBackwardData<T, Sum>& d, std::string_view variant,
                         Stream& stream) {
    vendor::layernorm_backward(variant, dtype_of<T>,
                               {d.dy.data(), d.x.data(), d.gamma.data(), d.mean.data(),
                                d.variance.data(), 0, d.rstd.data(), d.dx.data(), d.dgamma.data(),
                                d.dbeta.data(), d.rows, d.cols},
                               stream);
  }
};

} // namespace

Operation layernorm_backward_operation() {
  return norm_backward_operation<LayerNormBackward>("layernorm_backward");
}

} // namespace kg::perf
