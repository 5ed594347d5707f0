// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Products of square matrices, of matrices no multiple of a tile, and of long ones; all four
// transpositions. Shapes with tf32: what f32 matrices gain where they may be rounded to it; with
// bias, drelu or dgelu: what an epilogue costs; with dbias: what the gradient of a bias does; with
// b: batches of small products. With at most 8 rows or columns: products that memory bounds. With
// few tiles and a long k: what its parts bring.
#include "perf/gemm_case.h"
#include "perf/measure/suite.h"
#include "runtime/backend.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

namespace kg::perf {
namespace {

using namespace gemm_case;

template <class T, class Run>
Workload workload(std::string variant, Owner owner, const Extents& extents, Run run) {
  Stream stream;
  auto matrices = std::make_shared<Matrices<T>>(extents, stream);
  return {[=](Stream& s) { run(*matrices, s); },
          [=](Stream& s) {
            matrices->c.poison(s);
            matrices->dbias.poison(s);
          },
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
                             .stride_b = e.b(),
                             .bias_gradient = e.bias_gradient}),
              {},
              {},
              kProductsInTurns};
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
  const auto bias_gradient = static_cast<vendor::GemmBiasGradient>(e.bias_gradient);
  for (const std::string_view variant :
       vendor::gemm_variants(dtype_of<T>, epilogue, bias_gradient)) {
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

// As their names in the shape: "bias_gelu_tanh", "dgelu_tanh", "dbias_b".
gemm::Epilogue epilogue_of(const Shape& shape) {
  const bool tanh = shape.has("tanh");
  if (shape.has("drelu")) return gemm::Epilogue::drelu;
  if (shape.has("dgelu")) return tanh ? gemm::Epilogue::dgelu_tanh : gemm::Epilogue::dgelu;
  if (!shape.has("bias")) return gemm::Epilogue::none;
  if (shape.has("relu")) return gemm::Epilogue::bias_relu;
  if (!shape.has("gelu")) return gemm::Epilogue::bias;
  return tanh ? gemm::Epilogue::bias_gelu_tanh : gemm::Epilogue::bias_gelu;
}
gemm::BiasGradient bias_gradient_of(const Shape& shape) {
  if (!shape.has("dbias")) return gemm::BiasGradient::none;
  if (shape.has("a")) return gemm::BiasGradient::of_a;
  return shape.has("b") ? gemm::BiasGradient::of_b : gemm::BiasGradient::of_c;
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
                        {"m128_n128_k64_nt_dgelu_tanh_dbias"},
                        {"b4_m64_n72_k64_nt"},
                        {"m8_n256_k1024_nt"},
                        {"m512_n8_k512_tn"},
                        {"m64_n64_k2048_nn"},
                        {"m64_n128_k1024_nt"}};
  else
    operation.shapes = {{"m256_n256_k256_nn"},
                        {"m1024_n1024_k1024_nn"},
                        {"m4096_n4096_k4096_nn", true},
                        {"m4096_n4096_k4096_nt"},
                        {"m4096_n4096_k4096_tn"},
                        {"m4095_n4097_k4099_tt"},
                        {"m8192_n8192_k8192_nn"},
                        {"m8192_n128_k8192_nn"},
                        {"m4096_n4096_k4096_nn_tf32"},
                        {"m1024_n1024_k1024_tt_tf32"},
                        {"m4096_n4096_k4096_nn_bias"},
                        {"m4096_n4096_k4096_nn_bias_gelu_tanh"},
                        {"m4096_n4096_k4096_nt_dgelu_tanh_dbias"},
                        {"m4096_n4096_k4096_tn_dbias_b"},
                        {"b128_m1024_n1024_k64_nt"},
                        {"b4096_m128_n128_k128_nn"},
                        {"m1_n16384_k16384_nt"},
                        {"m8_n16384_k16384_nt"},
                        {"m8_n16384_k16384_nn"},
                        {"m16384_n8_k16384_nn"},
                        {"m32768_n1_k8192_nn"},
                        {"m1_n4096_k4096_nt"},
                        {"m128_n128_k16384_nn"},
                        {"m512_n512_k16384_nt"}};
  operation.make = [](Dtype dtype, const Shape& shape) {
    const std::size_t transposition = shape.word({"nn", "nt", "tn", "tt"});
    const Extents extents{shape.number("m"),
                          shape.number("n"),
                          shape.number("k"),
                          transposition / 2 == 1,
                          transposition % 2 == 1,
                          shape.has("tf32"),
                          epilogue_of(shape),
                          bias_gradient_of(shape),
                          shape.text().starts_with('b') ? shape.number("b") : 1};
    if (extents.tf32 && dtype != Dtype::f32) return Case{}; // no variants
    if (dtype == Dtype::f16) return make_case<f16>(extents);
    if (dtype == Dtype::bf16) return make_case<bf16>(extents);
    return make_case<float>(extents);
  };
  return operation;
}

} // namespace kg::perf
