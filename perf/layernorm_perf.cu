// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/normalization_case.h"
#include "vendor/layernorm/layernorm.h"

#include "layernorm/layernorm.h"

namespace kg::perf {
namespace {

struct LayerNorm {
  static Work work(Dtype dtype, std::int64_t rows, std::int64_t cols) {
    return layernorm::work(dtype, rows, cols);
  }
  template <class T>
  static void run(const NormData<T>& d, layernorm::Variant variant, Stream& stream) {
    layernorm::run<T>(matrix<const T>(d.x.data(), d.rows, d.cols), d.gamma.data(), d.beta.data(),
                      kNormEpsilon, matrix<T>(d.y.data(), d.rows, d.cols), nullptr, nullptr,
                      variant, stream);
  }
  static std::vector<std::string_view> vendors(Dtype dtype) {
    return vendor::layernorm_variants(dtype);
  }
  template <class T>
  static void run_vendor(const NormData<T>& d, std::string_view variant, Stream& stream) {
    vendor::layernorm(
        variant, dtype_of<T>,
        {d.x.data(), d.gamma.data(), d.beta.data(), kNormEpsilon, d.y.data(), d.rows, d.cols},
        stream);
  }

  static test::NormOracle oracle(const std::vector<double>& x, std::int64_t rows, std::int64_t cols,
                                 const std::vector<double>& gamma, const std::vector<double>& beta,
                                 double epsilon) {
    return test::layer_norm_oracle(x, rows, cols, gamma, beta, epsilon);
  }
  static double f32_tolerance(const test::NormOracle& oracle, std::size_t i, std::int64_t chain) {
    return test::layer_norm_f32_tolerance(oracle.value[i], oracle.normalized[i], oracle.skew[i],
                                          oracle.gamma[i], oracle.beta[i], chain);
  }
};

} // namespace

Operation layernorm_operation() { return norm_operation<LayerNorm>("layernorm"); }

} // namespace kg::perf
