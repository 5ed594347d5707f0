// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/normalization_case.h"
#include "vendor/rmsnorm/rmsnorm.h"

#include "rmsnorm/rmsnorm.h"

namespace kg::perf {
namespace {

struct RmsNorm {
  static Work work(Dtype dtype, std::int64_t rows, std::int64_t cols) {
    return rmsnorm::work(dtype, rows, cols);
  }
  template <class T>
  static void run(const NormData<T>& d, rmsnorm::Variant variant, Stream& stream) {
    rmsnorm::run<T>(matrix<const T>(d.x.data(), d.rows, d.cols), d.gamma.data(), kNormEpsilon,
                    matrix<T>(d.y.data(), d.rows, d.cols), nullptr, variant, stream);
  }
  static std::vector<std::string_view> vendors(Dtype dtype) {
    return vendor::rmsnorm_variants(dtype);
  }
  template <class T>
  static void run_vendor(const NormData<T>& d, std::string_view variant, Stream& stream) {
    vendor::rmsnorm(variant, dtype_of<T>,
                    {d.x.data(), d.gamma.data(), kNormEpsilon, d.y.data(), d.rows, d.cols}, stream);
  }

  static test::NormOracle oracle(const std::vector<double>& x, std::int64_t rows, std::int64_t cols,
                                 const std::vector<double>& gamma, const std::vector<double>&,
                                 double epsilon) {
    return test::rms_norm_oracle(x, rows, cols, gamma, epsilon);
  }
  static double f32_tolerance(const test::NormOracle& oracle, std::size_t i, std::int64_t chain) {
    return test::rms_norm_f32_tolerance(oracle.value[i], chain);
  }
};

} // namespace

Operation rmsnorm_operation() { return norm_operation<RmsNorm>("rmsnorm"); }

} // namespace kg::perf
