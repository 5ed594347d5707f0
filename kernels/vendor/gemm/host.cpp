// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "vendor/gemm/gemm.h"

#include "runtime/device_code.h"
#include "runtime/error.h"
#include "vendor/host/onednn.h"

#include <cblas.h>

#include <limits>
#include <string>

namespace kg::vendor {
namespace openblas {
namespace {

// OpenBLAS counts in blasint, 32 bits in the distributions' usual builds.
blasint narrow(const char* name, std::int64_t value) {
  require(value <= std::numeric_limits<blasint>::max(),
          std::string("kg::vendor::gemm: ") + name + " is " + std::to_string(value) +
              "; this OpenBLAS takes at most " +
              std::to_string(std::numeric_limits<blasint>::max()));
  return static_cast<blasint>(value);
}

CBLAS_TRANSPOSE transposition(bool transpose) { return transpose ? CblasTrans : CblasNoTrans; }

bool gemm_supported(Dtype dtype) { return dtype == Dtype::f32; }

// One arithmetic only, so neither `math` nor TF32 chooses anything: f32 products and sums, in an
// order fixed by shape, CPU and thread count.
void gemm(const Gemm& problem, Math, Stream&) {
  cblas_sgemm(CblasRowMajor, transposition(problem.transpose_a), transposition(problem.transpose_b),
              narrow("m", problem.m), narrow("n", problem.n), narrow("k", problem.k), problem.alpha,
              static_cast<const float*>(problem.a), narrow("lda", problem.lda),
              static_cast<const float*>(problem.b), narrow("ldb", problem.ldb), problem.beta,
              static_cast<float*>(problem.c), narrow("ldc", problem.ldc));
}

} // namespace
} // namespace openblas

namespace onednn {
namespace {

using dnnl::memory;

// alpha A B + beta C, by what oneDNN can do to a product before it is rounded.
dnnl::primitive_attr scaling(float alpha, float beta) {
  dnnl::post_ops after;
  if (alpha != 1) {
#if DNNL_VERSION_MAJOR >= 3
    after.append_eltwise(dnnl::algorithm::eltwise_linear, alpha, 0);
#else
    after.append_eltwise(1, dnnl::algorithm::eltwise_linear, alpha, 0);
#endif
  }
  if (beta != 0) after.append_sum(beta);
  dnnl::primitive_attr attributes;
  attributes.set_post_ops(after);
  return attributes;
}

dnnl::primitive make_gemm(const memory::desc& a, const memory::desc& b, const memory::desc& c,
                          float alpha, float beta) {
  const dnnl::primitive_attr attributes = scaling(alpha, beta);
#if DNNL_VERSION_MAJOR >= 3
  return dnnl::matmul({engine(), a, b, c, attributes});
#else
  return dnnl::matmul({{a, b, c}, attributes, engine()});
#endif
}

// f32 is OpenBLAS's.
bool gemm_supported(Dtype dtype) {
  if (dtype == Dtype::f32) return false;
  const auto type = type_of(dtype);
  if (!type) return false;
  const memory::desc each = matrix(*type, kProbe, kProbe);
  return creatable([&] { make_gemm(each, each, each, 2, 2); });
}

memory::desc stored(memory::data_type type, std::int64_t rows, std::int64_t columns,
                    std::int64_t leading, bool transposed) {
  return {{rows, columns}, type, transposed ? memory::dims{1, leading} : memory::dims{leading, 1}};
}

// C = beta C: oneDNN would read A and B, and make NaN of theirs.
template <class T>
void scale(const Gemm& g) {
  for (std::int64_t row = 0; row < g.m; ++row) {
    T* const c = static_cast<T*>(g.c) + row * g.ldc;
    for (std::int64_t i = 0; i < g.n; ++i)
      c[i] = from_float<T>(g.beta == 0 ? 0.0F : g.beta * to_float(c[i]));
  }
}

// One arithmetic only: f32 sums.
void gemm(const Gemm& g, Math, Stream&) {
  if (g.alpha == 0 || g.k == 0) return g.dtype == Dtype::f16 ? scale<f16>(g) : scale<bf16>(g);
  translate("gemm", [&] {
    const memory::data_type type = type_of(g.dtype).value();
    const memory::desc a = stored(type, g.m, g.k, g.lda, g.transpose_a);
    const memory::desc b = stored(type, g.k, g.n, g.ldb, g.transpose_b);
    const memory::desc c = stored(type, g.m, g.n, g.ldc, false);
    execute(make_gemm(a, b, c, g.alpha, g.beta), {{DNNL_ARG_SRC, wrap(a, g.a)},
                                                  {DNNL_ARG_WEIGHTS, wrap(b, g.b)},
                                                  {DNNL_ARG_DST, wrap(c, g.c)}});
  });
}

} // namespace
} // namespace onednn

namespace {

constexpr GemmVariant kTable[] = {
    {"openblas", openblas::gemm_supported, openblas::gemm},
    {"onednn", onednn::gemm_supported, onednn::gemm},
};

} // namespace

std::span<const GemmVariant> gemm_table() { return kTable; }

} // namespace kg::vendor
