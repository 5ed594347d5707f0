// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Matrix products (products.h defines the shapes), with TF32 if rounding is permitted, with
// epilogues, gradients of a bias, and in batches. The initial C is a separate input, c0, which is
// copied to C before the call.
#include "ops/gemm/gemm.h"

#include <algorithm>
#include <optional>

#include "libraries/gemm.h"
#include "runtime/backend.h"
#include "runtime/hopper_device.h"
#include "tests/contract/card.h"
#include "tests/ops/gemm/products.h"
#include "tests/ops/gemm/references.h"
#include "tests/ops/gemm/samples.h"

namespace kg::card {
namespace {

Tensor tensor(const char* name, Dtype dtype, const Product& p, const Matrices& m) {
  Tensor result{name, dtype, {m.rows, m.columns}};
  if (p.batch == 1) return result;
  result.by_row = false;
  if (m.apart != 0) {
    result.extents = {m.count, m.rows * m.columns};
    result.gap = m.apart;
  } else if (m.side_by_side) {
    result.extents = {m.rows, m.count, m.columns};
  } else {
    result.extents = {m.count, m.rows, m.columns};
  }
  return result;
}

// Strides of rows and matrices, in units of the tensor's row stride `row`.
struct Steps {
  std::int64_t leading, stride;
};
Steps steps(const Product& p, const Matrices& m, std::int64_t row) {
  const bool shared = m.count != p.batch;
  if (p.batch == 1) return {row, 0};
  if (m.apart != 0) return {m.columns, shared ? 0 : row};
  return m.side_by_side ? Steps{m.count * row, shared ? 0 : row}
                        : Steps{row, shared ? 0 : m.rows * row};
}

// Without memory. `row`: the row stride of the tensor of this name.
template <class T, class Row>
gemm::BasicProblem<T> described(const Product& p, Row row) {
  gemm::BasicProblem<T> g{
      .transpose_a = p.transpose_a, .transpose_b = p.transpose_b, .m = p.m, .n = p.n, .k = p.k};
  const Steps a = steps(p, p.a(), row("a")), b = steps(p, p.b(), row("b"));
  const Steps c = steps(p, p.c(), row("c"));
  g.lda = a.leading, g.stride_a = a.stride;
  g.ldb = b.leading, g.stride_b = b.stride;
  g.ldc = c.leading, g.stride_c = c.stride;
  g.math = p.tf32 ? gemm::Math::tf32 : gemm::Math::f32;
  g.epilogue = p.epilogue;
  g.batch = p.batch;
  g.bias_gradient = p.bias_gradient;
  g.parts = p.parts.value_or(0);
  if (p.wide) g.tiles = gemm::TileShape::wide;
  if (p.keeps_z || gemm::differentiates(p.epilogue)) {
    const Steps z = steps(p, p.c(), row("z"));
    g.ldz = z.leading, g.stride_z = z.stride;
  }
  return g;
}

// A function's name has every option that changes the result: gemm_nt_bias_gelu_f32. Several
// products use gemm_batched_nn_f32, which also takes the strides of rows and matrices.
Calling calling_of(const Product& p) {
  Calling calling{p.batch == 1 ? "" : "batched_", {{"m", {p.m}}, {"n", {p.n}}, {"k", {p.k}}}};
  calling.words += result_grammar().print(p);
  if (p.batch == 1) return calling;
  calling.integers.push_back({"batch", {p.batch}});
  const std::pair<const char*, Matrices> matrices[] = {{"a", p.a()}, {"b", p.b()}, {"c", p.c()}};
  for (const auto& [name, m] : matrices) {
    const std::int64_t next = m.side_by_side ? m.columns : m.rows * m.columns;
    calling.integers.push_back(
        {std::string("ld") + name, {m.side_by_side ? m.count * m.columns : m.columns}});
    calling.integers.push_back({std::string("stride_") + name, {m.count == p.batch ? next : 0}});
  }
  return calling;
}

Problem problem(Dtype dtype, const Shape& shape) {
  const Product p = product_grammar().parse(shape);
  const bool reads_z = gemm::differentiates(p.epilogue);
  const Work work = dispatch(dtype, [&]<class T>() {
    gemm::BasicProblem<T> g = described<T>(p, [](const char*) { return std::int64_t{0}; });
    T kept;
    if (p.keeps_z) g.z = &kept;
    g.beta = p.accumulates ? 1 : 0;
    g.stride_a = p.shares_a ? 0 : 1; // nonzero: one A for each
    g.stride_b = p.shares_b ? 0 : 1;
    return gemm::work(g);
  });
  Problem result{dtype, shape.text(), work,
                 2 * static_cast<double>(p.batch) * static_cast<double>(p.m * p.n) *
                     static_cast<double>(p.k)};
  result.parameters = p;
  result.tf32 = p.tf32;
  result.inputs = {tensor("a", dtype, p, p.a()), tensor("b", dtype, p, p.b())};
  result.outputs = {tensor("c", dtype, p, p.c())};
  if (p.accumulates) {
    result.inputs.push_back(tensor("c0", dtype, p, p.c()));
    result.inputs.back().by_row = false; // gemm knows only C
  }
  if (gemm::adds_bias(p.epilogue)) result.inputs.push_back({"bias", dtype, {p.n}, false});
  if (reads_z) result.inputs.push_back(tensor("z", dtype, p, p.c()));
  if (reads_z && !p.accumulates && p.bias_gradient == gemm::BiasGradient::none)
    result.outputs[0].may_be = {"z"};
  if (p.keeps_z) {
    result.outputs.push_back(tensor("z", dtype, p, p.c()));
    result.outputs.back().optional = true;
  }
  if (p.bias_gradient != gemm::BiasGradient::none)
    result.outputs.push_back({"dbias", dtype, {p.sums()}, false});
  result.scalars = {{"alpha", 1}, {"beta", p.accumulates ? 1 : 0}};
  result.gaps = p.batch == 1;
  result.pitched = true;
  result.calling = calling_of(p);
  return result;
}

bool is_left_out(const Problem& problem, const char* tensor) {
  const auto& absent = problem.left_out;
  return std::find(absent.begin(), absent.end(), tensor) != absent.end();
}

// Copies c0 to C if beta is not 0.
void put_before(const Call& call, const Product& p, Stream& stream) {
  if (!p.accumulates || !call.address("c")) return;
  require(call.address("c0"), "c0 is null");
  const Tensor& c = call.problem().tensor("c");
  const auto width = static_cast<std::int64_t>(size_of(c.dtype));
  const std::int64_t row = c.extents.back();
  if (row <= 0) return;
  for (std::int64_t i = 0; i < c.size() / row; ++i)
    copy_on_device(static_cast<std::byte*>(call.address("c")) + i * call.leading("c") * width,
                   static_cast<std::byte*>(call.address("c0")) + i * call.leading("c0") * width,
                   static_cast<std::size_t>(row * width), stream);
}

template <class T>
gemm::BasicProblem<T> bound(const Call& call, const Product& p) {
  gemm::BasicProblem<T> g =
      described<T>(p, [&](const char* tensor) { return call.leading(tensor); });
  g.alpha = call.scalar("alpha");
  g.beta = call.scalar("beta");
  g.a = call.in<T>("a");
  g.b = call.in<T>("b");
  g.c = call.out<T>("c");
  if (gemm::adds_bias(p.epilogue)) g.bias = call.in<T>("bias");
  if (g.ldz != 0) g.z = call.out<T>("z");
  if (p.bias_gradient != gemm::BiasGradient::none) g.dbias = call.out<T>("dbias");
  return g;
}

constexpr auto kRun = []<class T>(const Call& call, gemm::Variant variant, Stream& stream) {
  Product p = product_of(call.problem());
  if (p.keeps_z && is_left_out(call.problem(), "z")) p.keeps_z = false;
  gemm::BasicProblem<T> g = bound<T>(call, p);
  std::optional<HopperDevice> device;
  if (variant == gemm::Variant::wgmma) device.emplace();
  g.workspace = call.workspace(gemm::workspace_bytes(g, variant));
  require(!p.accumulates || call.address("c0") || p.m * p.n == 0, "gemm's card: c0 is null");
  put_before(call, p, stream);
  return gemm::run(g, variant, stream);
};

// Excludes launches longer than a few milliseconds: naive, and on the executor mma, of large
// matrices. On the executor, plain products represent the others, whose rows exist for their costs,
// and mma represents wgmma.
bool is_timed(gemm::Variant variant, const Product& p) {
  if (variant == gemm::Variant::wgmma && backend == Backend::host) return false;
  if (!p.plain() && backend == Backend::host) return false;
  constexpr std::int64_t kMostNaive = std::int64_t{1} << (backend == Backend::host ? 21 : 33);
  const bool slow = variant == gemm::Variant::naive ||
                    (backend == Backend::host && variant == gemm::Variant::mma);
  return !slow || p.batch * p.m * p.n * p.k <= kMostNaive;
}

constexpr std::string_view kSkinnyStride =
    "skinny reads rows that begin off 16 bytes element by element";

std::vector<Variant> variants() {
  std::vector<Variant> result = variants_of(gemm::kVariants, kRun);
  for (std::size_t i = 0; i < result.size(); ++i) {
    const gemm::Variant variant = gemm::kVariants[i];
    result[i].supports = [variant](const Problem& problem) {
      const bool tf32 = product_of(problem).tf32;
      return supports(variant, problem.dtype, tf32 ? gemm::Math::tf32 : gemm::Math::f32);
    };
    if (variant == gemm::Variant::tiled) result[i].dtypes = {Dtype::f32};
    if (variant == gemm::Variant::wgmma) result[i].dtypes = {Dtype::f16, Dtype::bf16};
    if (variant == gemm::Variant::skinny)
      result[i].dependence = [](const Problem& problem) -> Dependence {
        const Product p = product_of(problem);
        const bool along_k =
            p.transpose_a == gemm::Transpose::no && p.transpose_b == gemm::Transpose::yes;
        if (along_k) return {"", kSkinnyStride};
        return {"the longer of A and B says along which axis a warp reads", ""};
      };
    if (variant == gemm::Variant::split_k)
      result[i].dependence = [](const Problem& problem) -> Dependence {
        if (product_of(problem).parts.value_or(0) != 0) return {};
        return {"as many parts of k as fill the device with the tiles of C", ""};
      };
    // More blocks of skinny, or more tiles of split_k, would test nothing new. Only mma uses tf32;
    // only mma, tiled and wgmma use wide tiles. Products that wgmma leaves to mma would run twice.
    const auto fits = [variant](const Product& p) {
      if (p.tf32 && variant != gemm::Variant::mma) return false;
      if (variant == gemm::Variant::wgmma && !p.in_packs()) return false;
      if (p.wide && variant != gemm::Variant::mma && variant != gemm::Variant::tiled &&
          variant != gemm::Variant::wgmma)
        return false;
      return variant != gemm::Variant::skinny || std::min(p.m, p.n) <= 9;
    };
    result[i].tried = [variant, fits](const Problem& problem) {
      const Product p = product_of(problem);
      return fits(p) && p.parts.has_value() == (variant == gemm::Variant::split_k);
    };
    result[i].listed = [variant, fits](const Problem& problem) {
      const Product p = product_of(problem);
      return fits(p) && (!p.tf32 || problem.dtype == Dtype::f32) &&
             (variant != gemm::Variant::skinny || p.skinny()) &&
             (variant != gemm::Variant::wgmma || !p.skinny()) &&
             (variant != gemm::Variant::split_k || p.few_tiles());
    };
    result[i].timed = [variant](const Problem& problem) {
      return is_timed(variant, product_of(problem));
    };
  }
  return result;
}

// Only cuBLASLt, whose z has rows of whole packs of 8.
bool library_keeps_z(const Product& p, std::string_view vendor) {
  return vendor == "cublaslt" && p.keeps_z && p.batch == 1 && p.n % 8 == 0 &&
         p.epilogue == gemm::Epilogue::bias_gelu_tanh;
}

template <vendor::Math math>
void run_vendor(std::string_view vendor, const Call& call, Stream& stream) {
  const Product p = product_of(call.problem());
  const bool keeps_z = library_keeps_z(p, vendor);
  const bool has_z = gemm::differentiates(p.epilogue) || keeps_z;
  dispatch(call.problem().dtype, [&]<class T>() {
    Product asked = p;
    asked.keeps_z = keeps_z;
    const gemm::BasicProblem<T> g = bound<T>(call, asked);
    put_before(call, p, stream);
    vendor::gemm(vendor,
                 {call.problem().dtype,
                  p.transpose_a == gemm::Transpose::yes,
                  p.transpose_b == gemm::Transpose::yes,
                  g.m,
                  g.n,
                  g.k,
                  g.alpha,
                  g.a,
                  g.lda,
                  g.b,
                  g.ldb,
                  g.beta,
                  g.c,
                  g.ldc,
                  p.tf32,
                  p.epilogue,
                  g.bias,
                  g.batch,
                  g.stride_a,
                  g.stride_b,
                  g.stride_c,
                  has_z ? g.z : nullptr,
                  g.ldz,
                  p.bias_gradient,
                  g.dbias},
                 math, stream);
  });
}

std::set<std::string_view> libraries_on_host(const Problem& problem) {
  const Product p = product_of(problem);
  const bool alone =
      p.epilogue == gemm::Epilogue::none && p.bias_gradient == gemm::BiasGradient::none;
  return {alone ? "openblas" : "onednn"};
}

std::vector<std::string_view> vendors_of(const Problem& problem) {
  const Product p = product_of(problem);
  return vendor::gemm_variants(problem.dtype, p.epilogue, p.bias_gradient);
}

} // namespace

Card gemm_card() {
  Card card(product_grammar());
  card.problem = problem;
  card.variants = variants();
  card.resolved = [](const Problem&) { return std::string_view(); };
  card.run_automatic = automatic_of(gemm::Variant::automatic, kRun);
  card.vendors = {vendors_of, run_vendor<vendor::Math::pedantic>};
  card.vendors.on_host = libraries_on_host;
  card.vendors.run_timed = run_vendor<vendor::Math::fastest>;
  card.vendors.problem = [](const Problem& ours, std::string_view vendor) {
    const Product p = product_of(ours);
    return p.keeps_z && !library_keeps_z(p, vendor) ? ours.without("z") : ours;
  };
  // On the executor plain products represent the others.
  card.vendors.listed = [](const Problem& p) {
    return (backend == Backend::cuda || product_of(p).plain()) &&
           (!product_of(p).tf32 || p.dtype == Dtype::f32);
  };
  card.references = gemm_references::references;
  card.elements = gemm_references::elements;
  card.also = gemm_references::sums_are_of_c;
  card.hint = gemm_references::hint;
  card.exact_samples = gemm_samples::exact_samples;
  card.random_samples = gemm_samples::random_samples;
  card.special_samples = gemm_samples::special_samples;
  card.vendor_samples = gemm_samples::vendor_samples;
  card.usual = gemm_samples::usual;
  card.batches = gemm_samples::batches;
  card.automatic_dependence = [](const Problem&) -> Dependence {
    return {"variant, tiles and parts of k follow the extents", kSkinnyStride};
  };
  card.sizes = [](Dtype) { return std::vector<std::string>(); }; // exact: gemm_samples::edges
  card.pitches = gemm_samples::pitches;
  card.misaligned = gemm_samples::misaligned;
  card.refuses_overlap = false;
  card.empty = gemm_samples::empty();
  card.large_strides = [](Dtype dtype) {
    return gemm_samples::for_all_variants(
        dtype, {"m2_n72_k2_nn", "m2_n72_k2_tn", "m2_n2_k72_nt", "m2_n2_k2_tt"});
  };
  card.launches = {};
  card.bit_difference_reason = "erff, tanhf, fused products";
  card.bound = [](const Problem& p) {
    return product_of(p).skinny() ? kg::Bound::memory : kg::Bound::compute;
  };
  card.interleaved = true;
  // Square matrices, matrices that are not multiples of a tile, and long ones; all four
  // transpositions. tf32: the gain if f32 matrices may be rounded. bias, drelu and dgelu: the cost
  // of an epilogue. dbias: the cost of a bias gradient. b: batches of small products. At most 8
  // rows or columns: memory-bound products. Few tiles and a long k: the gain of split_k. wide: the
  // cost of wide tiles when there are too few of them.
  card.timed_on_host = {{"m256_n256_k256_nn", true},
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
                        {"m64_n128_k1024_nt"},
                        {"m256_n256_k256_nn_wide"},
                        {"m136_n264_k200_tt_wide"}};
  card.timed_on_gpu = {{"m256_n256_k256_nn"},
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
  return card;
}

} // namespace kg::card
