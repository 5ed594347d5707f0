// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Products of square matrices, of matrices no multiple of a tile, and of long ones; all four
// transpositions. Shapes with tf32: what f32 matrices gain where they may be rounded to it; with
// bias: what an epilogue costs; with b: batches of small products. With at most 8 rows or columns:
// products that memory bounds. With few tiles and a long k: what its parts bring.
#include "perf/measure/random_data.h"
#include "perf/measure/suite.h"
#include "runtime/backend.h"
#include "tests/support/compare.h"
#include "tests/support/oracle.h"
#include "tests/support/oracle_gemm_epilogue.h"
#include "tests/support/strided.h"
#include "tests/support/tolerance.h"
#include "vendor/gemm/gemm.h"

#include "gemm/gemm.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kg::perf {
namespace {

struct Extents {
  std::int64_t m, n, k;
  bool transpose_a, transpose_b;
  bool tf32;
  gemm::Epilogue epilogue;
  std::int64_t batch;

  bool skinny() const { return std::min(m, n) <= 8; }
  bool few_tiles() const { return !skinny() && batch == 1 && k >= 8 * std::max(m, n); }
  bool plain() const {
    return !tf32 && epilogue == gemm::Epilogue::none && batch == 1 && !skinny() && !few_tiles();
  }
  std::int64_t a() const { return m * k; } // elements of one matrix
  std::int64_t b() const { return k * n; }
  std::int64_t c() const { return m * n; }
};

gemm::Transpose transpose(bool yes) { return yes ? gemm::Transpose::yes : gemm::Transpose::no; }

template <class T>
gemm::BasicProblem<T> problem(const vendor::Gemm& g) {
  const auto epilogue = static_cast<gemm::Epilogue>(g.epilogue);
  return {.transpose_a = transpose(g.transpose_a),
          .transpose_b = transpose(g.transpose_b),
          .m = g.m,
          .n = g.n,
          .k = g.k,
          .alpha = g.alpha,
          .a = static_cast<const T*>(g.a),
          .lda = g.lda,
          .b = static_cast<const T*>(g.b),
          .ldb = g.ldb,
          .beta = g.beta,
          .c = static_cast<T*>(g.c),
          .ldc = g.ldc,
          .math = g.tf32 ? gemm::Math::tf32 : gemm::Math::f32,
          .epilogue = epilogue,
          .bias = epilogue == gemm::Epilogue::none ? nullptr : static_cast<const T*>(g.bias),
          .batch = g.batch,
          .stride_a = g.stride_a,
          .stride_b = g.stride_b,
          .stride_c = g.stride_c};
}

template <class T>
struct Matrices {
  Matrices(const Extents& e, Stream& stream)
      : e(e), a(e.batch * e.a(), test::Tensor::a, stream),
        b(e.batch * e.b(), test::Tensor::b, stream), bias(e.n, test::Tensor::c, stream),
        c(static_cast<std::size_t>(e.batch * e.c())) {
    if (e.few_tiles())
      workspace = DeviceBuffer<std::byte>(
          gemm::workspace_bytes(problem<T>(product()), gemm::Variant::split_k));
  }
  Extents e;
  RandomData<T> a, b, bias;
  DeviceBuffer<T> c;
  DeviceBuffer<std::byte> workspace;
  double worst_error = 0;

  vendor::Gemm product() const {
    return {dtype_of<T>,
            e.transpose_a,
            e.transpose_b,
            e.m,
            e.n,
            e.k,
            1,
            a.data(),
            e.transpose_a ? e.m : e.k,
            b.data(),
            e.transpose_b ? e.k : e.n,
            0,
            c.data(),
            e.n,
            e.tf32,
            static_cast<vendor::GemmEpilogue>(e.epilogue),
            bias.data(),
            e.batch,
            e.a(),
            e.b(),
            e.c()};
  }
};

// Ours rounds to TF32 where it may; a library may round otherwise, or not at all.
enum class Owner { us, library };

// The bounds of gemm_test.cu for a product in f32.
double tolerance_of(Dtype dtype, bool tf32, Owner owner, std::int64_t k, double condition) {
  if (tf32 && owner == Owner::library) return test::gemm_tf32_library_tolerance(k, condition);
  return dtype == Dtype::f32 && !tf32 ? test::gemm_f32_tolerance(k, condition)
                                      : test::gemm_matrix_unit_tolerance(k, condition);
}

std::optional<test::UnaryOp> activation_of(gemm::Epilogue epilogue) {
  switch (epilogue) {
  case gemm::Epilogue::bias_relu: return test::UnaryOp::relu;
  case gemm::Epilogue::bias_gelu: return test::UnaryOp::gelu;
  case gemm::Epilogue::bias_gelu_tanh: return test::UnaryOp::gelu_tanh;
  default: return std::nullopt;
  }
}

// The bounds of what is stored, of bounds of the products.
std::vector<double> stored_bounds(Dtype dtype, gemm::Epilogue epilogue, Owner owner,
                                  const test::EpilogueOracle& expected,
                                  std::vector<double> product) {
  if (epilogue == gemm::Epilogue::none) {
    for (std::size_t i = 0; i < product.size(); ++i)
      product[i] = test::stored_tolerance(dtype, expected.y[i], product[i]);
    return product;
  }
  const auto activation = activation_of(epilogue);
  if (owner == Owner::library)
    return test::library_epilogue_tolerances(activation, dtype, expected, product);
  return test::epilogue_tolerances(activation, dtype, expected, product).y;
}

// The first and last elements of C and some between, O(k) each.
template <class T>
std::string verify(Matrices<T>& m, Owner owner, Stream& stream) {
  constexpr std::int64_t kElements = 512;
  const Extents& e = m.e;
  const test::GemmProblem dot{test::contiguous({1, e.k}), test::contiguous({e.k, 1}),
                              test::contiguous({1, 1})};
  for (const Window window : windows(e.batch * e.c(), kElements)) {
    std::vector<double> product, tolerance, bias;
    for (std::int64_t i = window.first; i < window.first + window.count; ++i) {
      const std::int64_t first_a = i / e.c() * e.a();
      const std::int64_t first_b = i / e.c() * e.b();
      const std::int64_t row = i / e.n % e.m;
      const std::int64_t column = i % e.n;
      std::vector<double> a, b;
      for (std::int64_t k = 0; k < e.k; ++k) {
        const std::int64_t in_a = e.transpose_a ? k * e.m + row : row * e.k + k;
        const std::int64_t in_b = e.transpose_b ? column * e.k + k : k * e.n + column;
        a.push_back(static_cast<double>(m.a.at(first_a + in_a)));
        b.push_back(static_cast<double>(m.b.at(first_b + in_b)));
      }
      if (e.tf32) {
        a = test::tf32_rounded(a);
        b = test::tf32_rounded(b);
      }
      const test::GemmOracle oracle = test::gemm_oracle(dot, a, b, {});
      product.push_back(oracle.value[0]);
      tolerance.push_back(tolerance_of(dtype_of<T>, e.tf32, owner, e.k, oracle.condition[0]));
      const bool biased = e.epilogue != gemm::Epilogue::none;
      bias.push_back(biased ? static_cast<double>(m.bias.at(column)) : 0.0);
    }
    const test::EpilogueOracle expected =
        test::epilogue_oracle(activation_of(e.epilogue), product, bias);
    const std::vector<double> bounds =
        stored_bounds(dtype_of<T>, e.epilogue, owner, expected, tolerance);
    const auto comparison = test::compare(observe(m.c, window, stream),
                                          {dtype_of<T>, {window.count}, expected.y, bounds});
    m.worst_error = std::max(m.worst_error, comparison.max_error);
    if (!comparison.passed()) return comparison.text();
  }
  return "";
}

template <class T, class Run>
Workload workload(std::string variant, Owner owner, const Extents& extents, Run run) {
  Stream stream;
  auto matrices = std::make_shared<Matrices<T>>(extents, stream);
  return {[=](Stream& s) { run(*matrices, s); },
          [=](Stream& s) { matrices->c.poison(s); },
          [=](Stream& s) { return verify(*matrices, owner, s); },
          std::move(variant),
          {},
          [=] { return matrices->worst_error; }};
}

// Not where one launch would take longer than a few milliseconds: naive, and on the executor mma,
// of large matrices. On the executor plain products stand for the others, whose rows are for their
// costs.
bool is_timed(gemm::Variant variant, const Extents& e) {
  if (!e.plain() && backend == Backend::host) return false;
  constexpr std::int64_t kMostNaive = std::int64_t{1} << (backend == Backend::host ? 21 : 33);
  const bool slow = variant == gemm::Variant::naive ||
                    (backend == Backend::host && variant == gemm::Variant::mma);
  return !slow || e.batch * e.m * e.n * e.k <= kMostNaive;
}

template <class T>
Case make_case(const Extents& e) {
  Case result{e.skinny() ? Kind::memory : Kind::compute,
              gemm::work<T>({.m = e.m,
                             .n = e.n,
                             .k = e.k,
                             .epilogue = e.epilogue,
                             .batch = e.batch,
                             .stride_a = e.a(),
                             .stride_b = e.b()}),
              {}};
  for (const gemm::Variant variant : gemm::kVariants) {
    if (!gemm::supports<T>(variant, e.tf32 ? gemm::Math::tf32 : gemm::Math::f32)) continue;
    if (e.tf32 && variant != gemm::Variant::mma) continue; // the others make no use of it
    if (variant == gemm::Variant::skinny && !e.skinny()) continue;
    if (variant == gemm::Variant::split_k && !e.few_tiles()) continue;
    const std::string name(gemm::name(variant));
    result.variants.push_back({name, false,
                               [=] {
                                 return workload<T>(
                                     name, Owner::us, e, [=](const Matrices<T>& m, Stream& s) {
                                       gemm::BasicProblem<T> p = problem<T>(m.product());
                                       p.workspace = m.workspace.data();
                                       gemm::run(p, variant, s);
                                     });
                               },
                               is_timed(variant, e)});
  }
  if (!e.plain() && backend == Backend::host) return result;
  const auto epilogue = static_cast<vendor::GemmEpilogue>(e.epilogue);
  for (const std::string_view variant : vendor::gemm_variants(dtype_of<T>, epilogue)) {
    const std::string name(variant);
    result.variants.push_back({name, true, [=] {
                                 return workload<T>(
                                     name, Owner::library, e, [=](const Matrices<T>& m, Stream& s) {
                                       vendor::gemm(name, m.product(), vendor::Math::fastest, s);
                                     });
                               }});
  }
  return result;
}

// "bias", "bias_relu", "bias_gelu", "bias_gelu_tanh", as their names, or none.
gemm::Epilogue epilogue_of(const Shape& shape) {
  if (!shape.has("bias")) return gemm::Epilogue::none;
  if (shape.has("relu")) return gemm::Epilogue::bias_relu;
  if (!shape.has("gelu")) return gemm::Epilogue::bias;
  return shape.has("tanh") ? gemm::Epilogue::bias_gelu_tanh : gemm::Epilogue::bias_gelu;
}

} // namespace

Operation gemm_operation() {
  Operation operation{"gemm", "matmul", {Dtype::f32, Dtype::f16, Dtype::bf16}, {}, {}};
  if (backend == Backend::host)
    operation.shapes = {{"m256_n256_k256_nn", true},
                        {"m128_n128_k128_tt"},
                        {"m250_n270_k230_nt"},
                        {"m64_n512_k512_tn"},
                        {"m128_n128_k128_nn_tf32"},
                        {"m130_n120_k100_tt_tf32"},
                        {"m128_n128_k64_nn_bias_gelu_tanh"},
                        {"b4_m64_n72_k64_nt"},
                        {"m8_n256_k1024_nt"},
                        {"m512_n8_k512_tn"},
                        {"m64_n64_k2048_nn"},
                        {"m64_n128_k1024_nt"}};
  else
    operation.shapes = {{"m256_n256_k256_nn"},          {"m1024_n1024_k1024_nn"},
                        {"m4096_n4096_k4096_nn", true}, {"m4096_n4096_k4096_nt"},
                        {"m4096_n4096_k4096_tn"},       {"m4095_n4097_k4099_tt"},
                        {"m8192_n8192_k8192_nn"},       {"m8192_n128_k8192_nn"},
                        {"m4096_n4096_k4096_nn_tf32"},  {"m1024_n1024_k1024_tt_tf32"},
                        {"m4096_n4096_k4096_nn_bias"},  {"m4096_n4096_k4096_nn_bias_gelu_tanh"},
                        {"b128_m1024_n1024_k64_nt"},    {"b4096_m128_n128_k128_nn"},
                        {"m1_n16384_k16384_nt"},        {"m8_n16384_k16384_nt"},
                        {"m8_n16384_k16384_nn"},        {"m16384_n8_k16384_nn"},
                        {"m32768_n1_k8192_nn"},         {"m1_n4096_k4096_nt"},
                        {"m128_n128_k16384_nn"},        {"m512_n512_k16384_nt"}};
  operation.make = [](Dtype dtype, const Shape& shape) {
    const std::size_t transposition = shape.word({"nn", "nt", "tn", "tt"});
    const Extents extents{
        shape.number("m"),      shape.number("n"),
        shape.number("k"),      transposition / 2 == 1,
        transposition % 2 == 1, shape.has("tf32"),
        epilogue_of(shape),     shape.text().starts_with('b') ? shape.number("b") : 1};
    if (extents.tf32 && dtype != Dtype::f32) return Case{}; // no variants
    if (dtype == Dtype::f16) return make_case<f16>(extents);
    if (dtype == Dtype::bf16) return make_case<bf16>(extents);
    return make_case<float>(extents);
  };
  return operation;
}

} // namespace kg::perf
