// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/gemm.h"

#include "libraries/host/onednn_eltwise.h"
#include "libraries/host/onednn_reduction.h"
#include "runtime/error.h"

#include <cblas.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace kg::vendor {
namespace {

const void* advanced(const void* data, std::int64_t elements, Dtype dtype) {
  return static_cast<const std::byte*>(data) + elements * static_cast<std::int64_t>(size_of(dtype));
}
void* advanced(void* data, std::int64_t elements, Dtype dtype) {
  return static_cast<std::byte*>(data) + elements * static_cast<std::int64_t>(size_of(dtype));
}

// Runs the products of a batch one after another: OpenBLAS has no call for a whole batch.
template <class Product>
void each_product(const Gemm& batch, Product product) {
  Gemm one = batch;
  one.batch = 1;
  for (std::int64_t i = 0; i < batch.batch; ++i) {
    one.a = advanced(batch.a, i * batch.stride_a, batch.dtype);
    one.b = advanced(batch.b, i * batch.stride_b, batch.dtype);
    one.c = advanced(batch.c, i * batch.stride_c, batch.dtype);
    product(one);
  }
}

} // namespace

namespace openblas {
namespace {

// OpenBLAS counts in blasint, which has 32 bits in most distributions' builds.
blasint narrow(const char* name, std::int64_t value) {
  require(value <= std::numeric_limits<blasint>::max(),
          std::string("kg::vendor::gemm: ") + name + " is " + std::to_string(value) +
              "; this OpenBLAS takes at most " +
              std::to_string(std::numeric_limits<blasint>::max()));
  return static_cast<blasint>(value);
}

CBLAS_TRANSPOSE transposition(bool transpose) { return transpose ? CblasTrans : CblasNoTrans; }

bool gemm_supported(Dtype dtype, gemm::Epilogue epilogue, gemm::BiasGradient bias_gradient) {
  return dtype == Dtype::f32 && epilogue == gemm::Epilogue::none &&
         bias_gradient == gemm::BiasGradient::none;
}

// There is only one arithmetic, so `math` and TF32 have no effect: f32 products and sums, in an
// order fixed by shape, CPU and thread count. alpha = 0 runs with k = 0: OpenBLAS 0.3.21's kernels
// for small matrices (AVX-512) would read A and B and propagate their NaN.
void gemm(const Gemm& batch, Math, Stream&) {
  each_product(batch, [](const Gemm& g) {
    cblas_sgemm(CblasRowMajor, transposition(g.transpose_a), transposition(g.transpose_b),
                narrow("m", g.m), narrow("n", g.n), narrow("k", g.alpha == 0 ? 0 : g.k), g.alpha,
                static_cast<const float*>(g.a), narrow("lda", g.lda),
                static_cast<const float*>(g.b), narrow("ldb", g.ldb), g.beta,
                static_cast<float*>(g.c), narrow("ldc", g.ldc));
  });
}

} // namespace
} // namespace openblas

namespace onednn {
namespace {

using dnnl::memory;

std::optional<activation::Function> activation_of(gemm::Epilogue epilogue) {
  switch (epilogue) {
  case gemm::Epilogue::bias_relu:
  case gemm::Epilogue::drelu: return activation::Function::relu;
  case gemm::Epilogue::bias_gelu:
  case gemm::Epilogue::dgelu: return activation::Function::gelu;
  case gemm::Epilogue::bias_gelu_tanh:
  case gemm::Epilogue::dgelu_tanh: return activation::Function::gelu_tanh;
  case gemm::Epilogue::none:
  case gemm::Epilogue::bias: return std::nullopt;
  }
  return std::nullopt;
}

// alpha A B + beta C and the epilogue, as far as oneDNN can apply them before rounding.
struct Steps {
  dnnl::primitive_attr attributes;
  int bias = -1; // index of the post-op that adds the bias
};
Steps steps(const Gemm& g, const memory::desc& bias) {
  dnnl::post_ops after;
  if (g.alpha != 1) append_eltwise(after, dnnl::algorithm::eltwise_linear, g.alpha);
  if (g.beta != 0) after.append_sum(g.beta);
  Steps result;
  if (g.adds_bias()) {
    result.bias = after.len();
    after.append_binary(dnnl::algorithm::binary_add, bias);
    if (const auto activation = activation_of(g.epilogue))
      append_eltwise(after, algorithm_of(*activation), parameter_of(*activation));
  }
  result.attributes.set_post_ops(after);
  return result;
}

// OpenBLAS covers f32 without an epilogue.
bool gemm_supported(Dtype dtype, gemm::Epilogue epilogue, gemm::BiasGradient bias_gradient) {
  const bool sums = bias_gradient != gemm::BiasGradient::none;
  if (dtype == Dtype::f32 && epilogue == gemm::Epilogue::none && !sums) return false;
  return offers(type_of(dtype), [&](memory::data_type type) {
    const memory::desc each = matrix(type, kProbe, kProbe);
    const memory::desc row = matrix(type, 1, kProbe);
    Gemm probe{};
    probe.alpha = probe.beta = 2;
    probe.epilogue = epilogue;
    make_with<dnnl::matmul>(steps(probe, row).attributes, each, each, each);
    if (probe.differentiates()) make_eltwise_backward(*activation_of(epilogue), each, each);
    if (sums) make_reduction(dnnl::algorithm::reduction_sum, each, row);
  });
}

memory::desc stored(memory::data_type type, std::int64_t rows, std::int64_t columns,
                    std::int64_t leading, bool transposed) {
  return {{rows, columns}, type, transposed ? memory::dims{1, leading} : memory::dims{leading, 1}};
}

void multiply(const Gemm& g) {
  const memory::data_type type = type_of(g.dtype).value();
  const memory::desc a = stored(type, g.m, g.k, g.lda, g.transpose_a);
  const memory::desc b = stored(type, g.k, g.n, g.ldb, g.transpose_b);
  const memory::desc c = stored(type, g.m, g.n, g.ldc, false);
  const memory::desc bias = matrix(type, 1, g.n);
  const Steps after = steps(g, bias);
  Arguments arguments{
      {DNNL_ARG_SRC, wrap(a, g.a)}, {DNNL_ARG_WEIGHTS, wrap(b, g.b)}, {DNNL_ARG_DST, wrap(c, g.c)}};
  if (after.bias >= 0)
    arguments.insert(
        {DNNL_ARG_ATTR_MULTIPLE_POST_OP(after.bias) | DNNL_ARG_SRC_1, wrap(bias, g.bias)});
  execute(make_with<dnnl::matmul>(after.attributes, a, b, c), arguments);
}

// There is only one arithmetic: f32 sums. oneDNN would read A and B even if they must not be read,
// and propagate their NaN. It gets a column and a row of zeros instead.
void multiply_or_scale(const Gemm& g) {
  if (g.alpha != 0 && g.k != 0) return multiply(g);
  const std::vector<std::byte> zeros(static_cast<std::size_t>(std::max(g.m, g.n)) *
                                     size_of(g.dtype));
  Gemm empty = g;
  empty.transpose_a = empty.transpose_b = false;
  empty.k = empty.lda = 1;
  empty.ldb = g.n;
  empty.alpha = 1;
  empty.a = empty.b = zeros.data();
  multiply(empty);
}

// Multiplies the product, which is rounded to its type, by the activation's derivative.
void differentiate(const Gemm& g) {
  const memory::data_type type = type_of(g.dtype).value();
  const memory::desc z = stored(type, g.m, g.n, g.ldz, false);
  const memory::desc c = stored(type, g.m, g.n, g.ldc, false);
  execute(make_eltwise_backward(activation_of(g.epilogue).value(), z, c),
          {{DNNL_ARG_SRC, wrap(z, g.z)},
           {DNNL_ARG_DIFF_DST, wrap(c, g.c)},
           {DNNL_ARG_DIFF_SRC, wrap(c, g.c)}});
}

void add_rows(const Gemm& g) {
  const memory::data_type type = type_of(g.dtype).value();
  const auto add = [&](const void* data, std::int64_t rows, std::int64_t columns,
                       std::int64_t leading) {
    if (rows == 1) { // oneDNN rejects a reduction of one row
      std::memcpy(g.dbias, data, static_cast<std::size_t>(columns) * size_of(g.dtype));
      return;
    }
    const memory::desc from = stored(type, rows, columns, leading, false);
    const memory::desc to = matrix(type, 1, columns);
    execute(make_reduction(dnnl::algorithm::reduction_sum, from, to),
            {{DNNL_ARG_SRC, wrap(from, data)}, {DNNL_ARG_DST, wrap(to, g.dbias)}});
  };
  if (g.bias_gradient == gemm::BiasGradient::of_c) add(g.c, g.m, g.n, g.ldc);
  if (g.bias_gradient == gemm::BiasGradient::of_a) add(g.a, g.k, g.m, g.lda);
  if (g.bias_gradient == gemm::BiasGradient::of_b) add(g.b, g.k, g.n, g.ldb);
}

// The gradients run one primitive after another, as a user of the library would write them.
void gemm(const Gemm& batch, Math, Stream&) {
  translate("gemm", [&] {
    each_product(batch, multiply_or_scale);
    if (batch.differentiates()) differentiate(batch);
    if (batch.bias_gradient != gemm::BiasGradient::none) add_rows(batch);
  });
}

} // namespace
} // namespace onednn

const Table<GemmVariant> gemm_table = {
    {"openblas", openblas::gemm_supported, openblas::gemm},
    {"onednn", onednn::gemm_supported, onednn::gemm},
};

} // namespace kg::vendor
