// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/gemm.h"

#include "libraries/dispatch.h"
#include "runtime/error.h"

#include <algorithm>

namespace kg::vendor {

Names gemm_variants(Dtype dtype, gemm::Epilogue epilogue, gemm::BiasGradient bias_gradient) {
  return names(gemm_table, dtype, epilogue, bias_gradient);
}

void gemm(std::string_view variant, const Gemm& problem, Math math, Stream& stream) {
  const std::string what = join("gemm", {name(problem.dtype)});
  const auto& entry =
      find(gemm_table, variant, what, problem.dtype, problem.epilogue, problem.bias_gradient);
  require_extents(what, {{"m", problem.m}, {"n", problem.n}, {"k", problem.k}});
  require_leading(what, "lda", problem.lda, problem.transpose_a ? problem.m : problem.k);
  require_leading(what, "ldb", problem.ldb, problem.transpose_b ? problem.k : problem.n);
  require_leading(what, "ldc", problem.ldc, problem.n);
  require_extents(what, {{"batch", problem.batch},
                         {"stride_a", problem.stride_a},
                         {"stride_b", problem.stride_b},
                         {"stride_c", problem.stride_c}});
  if (problem.m == 0 || problem.n == 0 || problem.batch == 0) return;
  require_pointers(what, {{"c", problem.c}});
  if (problem.k > 0) require_pointers(what, {{"a", problem.a}, {"b", problem.b}});
  if (problem.adds_bias()) require_pointers(what, {{"bias", problem.bias}});
  require(!problem.keeps_z() ||
              (variant == "cublaslt" && problem.epilogue == gemm::Epilogue::bias_gelu_tanh),
          what + ": z to be kept; only cublaslt keeps it, of bias_gelu_tanh");
  if (problem.differentiates()) require_pointers(what, {{"z", problem.z}});
  if (problem.differentiates() || problem.keeps_z()) {
    require_leading(what, "ldz", problem.ldz, problem.n);
    require(problem.batch == 1, what + ": z of a batch; pass one product");
  }
  if (problem.bias_gradient != gemm::BiasGradient::none) {
    require_pointers(what, {{"dbias", problem.dbias}});
    require(problem.batch == 1 && problem.k > 0 && problem.alpha != 0,
            what + ": dbias of a batch or of an empty product; pass one that is not");
    require(problem.transpose_a || problem.bias_gradient != gemm::BiasGradient::of_a,
            what + ": dbias of an A that is not transposed; pass it transposed");
    require(!problem.transpose_b || problem.bias_gradient != gemm::BiasGradient::of_b,
            what + ": dbias of a transposed B; pass it as it is");
  }
  Gemm checked = problem; // BLAS requires leading dimensions >= 1, even if k = 0
  checked.lda = std::max<std::int64_t>(problem.lda, 1);
  checked.ldb = std::max<std::int64_t>(problem.ldb, 1);
  if (problem.k == 0) checked.stride_a = checked.stride_b = 0; // A and B may be null
  entry.run(checked, math, stream);
}

} // namespace kg::vendor
