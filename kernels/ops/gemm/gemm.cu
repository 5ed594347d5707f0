// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "ops/gemm/gemm.h"

#include "ops/gemm/choices.h"
#include "ops/gemm/variants.h"
#include "runtime/device.h"
#include "runtime/error.h"
#include "runtime/preconditions.h"

#include <algorithm>
#include <string>
#include <type_traits>

namespace kg::gemm {
namespace {

void require_leading(const char* field, std::int64_t value, const char* extent,
                     std::int64_t least) {
  require(value >= least, std::string("gemm: ") + field + " is " + std::to_string(value) +
                              "; it must be at least " + extent + " = " + std::to_string(least));
}

// Checks that `batch` output matrices of rows x columns do not overlap.
void require_each_apart(const char* field, std::int64_t stride, std::int64_t batch,
                        std::int64_t rows, std::int64_t columns, std::int64_t leading) {
  const bool behind = stride >= (rows - 1) * leading + columns;
  const bool side_by_side = stride >= columns && (batch - 1) * stride + columns <= leading;
  require(batch < 2 || rows == 0 || columns == 0 || behind || side_by_side,
          std::string("gemm: ") + field + " is " + std::to_string(stride) +
              "; matrices of a batch must not overlap: it must be at least " +
              std::to_string((rows - 1) * leading + columns) +
              ", or rows must be long enough to lie side by side");
}

template <class T>
void validate_extents(const BasicProblem<T>& p) {
  require_extent("gemm: m", p.m);
  require_extent("gemm: n", p.n);
  require_extent("gemm: k", p.k);
  require_extent("gemm: batch", p.batch);
  require_extent("gemm: parts", p.parts);
}

// Bytes from the first to the end of the last element of matrices with rows of `columns` elements,
// `leading` apart, and matrices `stride` apart.
template <class T>
std::int64_t span(std::int64_t rows, std::int64_t columns, std::int64_t leading,
                  std::int64_t batch = 1, std::int64_t stride = 0) {
  if (rows * columns * batch == 0) return 0;
  return ((batch - 1) * stride + (rows - 1) * leading + columns) *
         static_cast<std::int64_t>(sizeof(T));
}

// An input z is C itself or does not overlap C, since each element is read before it is written.
template <class T>
void require_z_apart(const BasicProblem<T>& p) {
  require_extent("gemm: stride_z", p.stride_z);
  if (p.z == p.c && p.ldz == p.ldc && (p.batch < 2 || p.stride_z == p.stride_c)) return;
  require_apart("gemm: z", p.z, span<T>(p.m, p.n, p.ldz, p.batch, p.stride_z), "c", p.c,
                span<T>(p.m, p.n, p.ldc, p.batch, p.stride_c));
}

// Checks of dbias.
template <class T>
std::int64_t sums_of(const BasicProblem<T>& p) {
  if (p.bias_gradient == BiasGradient::none) return 0;
  return p.bias_gradient == BiasGradient::of_a ? p.m : p.n;
}

template <class T>
void validate_bias_gradient(const BasicProblem<T>& p) {
  require(p.batch == 1, "gemm: batch is " + std::to_string(p.batch) +
                            "; dbias is of a single product: sum up batches by themselves");
  const bool transpose_a = p.transpose_a == Transpose::yes;
  const bool transpose_b = p.transpose_b == Transpose::yes;
  require(p.bias_gradient != BiasGradient::of_a || transpose_a,
          "gemm: transpose_a is not set; dbias of a adds rows of k x m: pass a so, transposed");
  require(p.bias_gradient != BiasGradient::of_b || !transpose_b,
          "gemm: transpose_b is set; dbias of b adds rows of k x n: pass b so, not transposed");
  require_elements("gemm: dbias", p.dbias, sums_of(p));
  const auto apart = [&](const char* input, const T* data, std::int64_t bytes) {
    require_apart(std::string("gemm: ") + input, data, bytes, "dbias", p.dbias,
                  span<T>(1, sums_of(p), 0));
  };
  apart("a", p.a, span<T>(transpose_a ? p.k : p.m, transpose_a ? p.m : p.k, p.lda));
  apart("b", p.b, span<T>(transpose_b ? p.n : p.k, transpose_b ? p.k : p.n, p.ldb));
  apart("c", p.c, span<T>(p.m, p.n, p.ldc));
  if (p.z != nullptr) apart("z", p.z, span<T>(p.m, p.n, p.ldz));
  if (p.bias != nullptr) apart("bias", p.bias, span<T>(1, p.n, p.n));
}

template <class T>
void validate(const BasicProblem<T>& p) {
  validate_extents(p);
  require_extent("gemm: stride_a", p.stride_a);
  require_extent("gemm: stride_b", p.stride_b);
  const bool transpose_a = p.transpose_a == Transpose::yes;
  const bool transpose_b = p.transpose_b == Transpose::yes;
  require_leading("lda", p.lda, transpose_a ? "m" : "k", transpose_a ? p.m : p.k);
  require_leading("ldb", p.ldb, transpose_b ? "k" : "n", transpose_b ? p.k : p.n);
  require_leading("ldc", p.ldc, "n", p.n);
  require_each_apart("stride_c", p.stride_c, p.batch, p.m, p.n, p.ldc);
  if (p.z != nullptr) {
    require_leading("ldz", p.ldz, "n", p.n);
    if (differentiates(p.epilogue))
      require_z_apart(p);
    else
      require_each_apart("stride_z", p.stride_z, p.batch, p.m, p.n, p.ldz);
  }
  const std::string epilogue(name(p.epilogue));
  require(!adds_bias(p.epilogue) || p.bias != nullptr || p.n == 0,
          "gemm: bias is null; the epilogue " + epilogue + " adds n elements");
  require(!differentiates(p.epilogue) || p.z != nullptr || p.m * p.n == 0,
          "gemm: z is null; the epilogue " + epilogue + " reads m x n elements");
  require(p.epilogue != Epilogue::none || (p.bias == nullptr && p.z == nullptr),
          "gemm: there is a bias, or a z, and no epilogue; choose one, or pass neither");
  require(!differentiates(p.epilogue) || p.bias == nullptr,
          "gemm: there is a bias, and the epilogue " + epilogue + " adds none; pass null");
  require(p.bias_gradient != BiasGradient::none || p.dbias == nullptr,
          "gemm: there is a dbias, and bias_gradient is none; choose one, or pass null");
  if (p.bias_gradient != BiasGradient::none) validate_bias_gradient(p);
}

// A tile has at least 64x64 elements whatever the size of C: below 256 elements of C, more than 15
// of 16 multiply-adds would be padding.
constexpr std::int64_t kLeastTiledElements = 256;

// Below this k, a thread of skinny has fewer loads than it could keep in flight, and adding the
// parts of 32 threads dominates. Above it skinny is faster on a GPU, though 20 times slower than
// tiled in the emulator. Model for an H200, 8 x n x 196 (a 7x7 kernel on 4 channels): 2.9 us at n =
// 1024 and 4.8 us at n = 16384. tiled, with 8 times the multiplications and 1.4 times the sectors,
// takes 8.3 us and 9.7 us. For f16: 2.9 us and 3.4 us, by mma 4.3 us.
constexpr std::int64_t kLeastSkinnyDepth = 128;

template <class T>
bool runs_wgmma(const BasicProblem<T>& p) {
  if constexpr (std::is_same_v<T, float>)
    return false;
  else
    return supports<T>(Variant::wgmma, p.math) && wgmma_fits(p);
}

template <class T>
Variant by_rule(const BasicProblem<T>& p, bool has_workspace) {
  if (std::min(p.m, p.n) <= kSkinnySide && p.k >= kLeastSkinnyDepth) return Variant::skinny;
  if (has_workspace && supports<T>(Variant::split_k, p.math) && split_pays(p))
    return Variant::split_k;
  if (p.m * p.n < kLeastTiledElements) return Variant::naive;
  if (runs_wgmma(p)) return Variant::wgmma;
  if (supports<T>(Variant::mma, p.math)) return Variant::mma;
  return supports<T>(Variant::tiled, p.math) ? Variant::tiled : Variant::naive;
}

// The choice measured on this device, else by rule.
template <class T>
Variant choose(const BasicProblem<T>& p, bool has_workspace) {
  constexpr bool kMeasured = kChoices.size() > 0;
  if (!kMeasured || p.batch * p.m * p.n * p.k == 0) return by_rule(p, has_workspace);
  const Choice* measured =
      nearest({kChoices.begin(), kChoices.size()}, device_slug(device_properties().name),
              dtype_of<T>, p.math, {.b = p.batch, .m = p.m, .n = p.n, .k = p.k});
  const bool runs = measured && supports<T>(measured->variant, p.math) &&
                    (has_workspace || measured->variant != Variant::split_k);
  return runs ? measured->variant : by_rule(p, has_workspace);
}

template <class T>
Variant resolve(const BasicProblem<T>& p, Variant variant) {
  if (variant == Variant::automatic) return choose(p, p.workspace != nullptr);
  require(supports<T>(variant, p.math), "gemm: no variant " + std::string(name(variant)) + " for " +
                                            std::string(name(dtype_of<T>)) + " with math " +
                                            std::string(name(p.math)) +
                                            " on this device; use automatic or naive");
  return variant;
}

template <class T>
void run_variant(const BasicProblem<T>& p, Variant variant, Stream& stream) {
  if (variant == Variant::naive) return run_naive(p, stream);
  if (variant == Variant::skinny) return run_skinny(p, stream);
  if (variant == Variant::split_k) return run_split_k(p, stream);
  if constexpr (std::is_same_v<T, float>)
    if (variant == Variant::tiled) return run_tiled(p, whole(p), stream);
  if constexpr (!std::is_same_v<T, float>)
    if (variant == Variant::wgmma && wgmma_fits(p)) return run_wgmma(p, stream);
  run_mma(p, whole(p), stream);
}

} // namespace

std::string_view name(Math math) { return math == Math::tf32 ? "tf32" : "f32"; }

std::string_view name(BiasGradient gradient) {
  switch (gradient) {
  case BiasGradient::none: return "none";
  case BiasGradient::of_c: return "dbias";
  case BiasGradient::of_a: return "dbias_a";
  case BiasGradient::of_b: return "dbias_b";
  }
  return "";
}

std::string_view transposition_name(Transpose a, Transpose b) {
  const bool transpose_b = b == Transpose::yes;
  if (a == Transpose::yes) return transpose_b ? "tt" : "tn";
  return transpose_b ? "nt" : "nn";
}

template <class T>
std::size_t workspace_bytes(const BasicProblem<T>& p, Variant variant) {
  validate_extents(p);
  if (variant == Variant::automatic) variant = choose(p, true);
  const std::size_t sums = bias_gradient_bytes(p); // reuses the memory of split_k's parts
  if (variant != Variant::split_k) return sums;
  const Split split = split_of(p);
  const std::int64_t floats = p.batch * split.parts * p.m * split.sums.pitch;
  return std::max(sums, static_cast<std::size_t>(floats) * sizeof(float));
}

template <class T>
Variant run(const BasicProblem<T>& problem, Variant variant, Stream& stream) {
  validate(problem);
  const Variant resolved = resolve(problem, variant);
  BasicProblem<T> p = problem;
  if (p.alpha == 0 || p.k == 0) {
    p.alpha = 0; // with k = 0 a NaN alpha must not reach C
    p.k = 0;
    p.stride_a = p.stride_b = 0; // A and B may be null
  }
  if (p.batch == 1) p.stride_a = p.stride_b = p.stride_c = p.stride_z = 0;
  const bool unchanged = p.k == 0 && p.beta == 1 && p.epilogue == Epilogue::none;
  const bool computes = p.m != 0 && p.n != 0 && p.batch != 0 && !unchanged;
  const std::size_t needed = workspace_bytes(problem, resolved);
  require(needed == 0 || (p.workspace != nullptr && is_aligned(p.workspace)),
          "gemm: workspace is null or not aligned; pass " + std::to_string(needed) +
              " bytes, aligned to 16");
  if (computes) {
    require_elements("gemm: c", p.c, p.m * p.n);
    require_elements("gemm: a", p.a, p.m * p.k); // k is 0 if neither operand is read
    require_elements("gemm: b", p.b, p.k * p.n);
    run_variant(p, resolved, stream);
  }
  if (sums_of(problem) > 0) run_bias_gradient(problem, stream);
  return resolved;
}

template <class T>
Work work(const BasicProblem<T>& p) {
  const double m = static_cast<double>(p.m);
  const double n = static_cast<double>(p.n);
  const double k = p.alpha == 0 ? 0 : static_cast<double>(p.k);
  const bool keeps_z = p.z != nullptr && !differentiates(p.epilogue);
  const bool has_z = p.z != nullptr || differentiates(p.epilogue);
  const double passes = (p.beta == 0 ? 1 : 2) + (has_z ? 1 : 0); // over C and z
  const double bias = (adds_bias(p.epilogue) ? n : 0) + static_cast<double>(sums_of(p));
  const double batch = static_cast<double>(p.batch);
  const auto matrices = [&](std::int64_t stride) {
    return stride == 0 ? std::min(batch, 1.0) : batch;
  };
  return {.bytes = sizeof(T) * (matrices(p.stride_a) * m * k + matrices(p.stride_b) * k * n +
                                passes * batch * m * n + bias),
          .written =
              sizeof(T) * ((keeps_z ? 2 : 1) * batch * m * n + static_cast<double>(sums_of(p))),
          .flops = 2 * batch * m * n * k};
}

template <class T>
bool supports(Variant variant, Math math) {
  switch (variant) {
  case Variant::automatic:
  case Variant::naive:
  case Variant::skinny: return true;
  case Variant::tiled: return std::is_same_v<T, float>;
  case Variant::split_k:
    return supports<T>(Variant::mma, math) || supports<T>(Variant::tiled, math);
  case Variant::mma: // before 8.0, Tensor Cores support only f16
    if (std::is_same_v<T, f16>) return true;
    if (std::is_same_v<T, float> && math != Math::tf32) return false;
    return !device_unavailable_reason().empty() || device_properties().compute_major >= 8;
  case Variant::wgmma: // requires 9.0
    if (std::is_same_v<T, float>) return false;
    return !device_unavailable_reason().empty() || device_properties().compute_major == 9;
  }
  return false;
}

template <class T>
TileShape tile_shape(const BasicProblem<T>& p, Variant variant) {
  if constexpr (std::is_same_v<T, float>)
    if (variant == Variant::tiled) return tile_shape_of_tiled(p);
  if constexpr (!std::is_same_v<T, float>)
    if (variant == Variant::wgmma && wgmma_fits(p)) return tile_shape_of_wgmma(p);
  return variant == Variant::mma || variant == Variant::wgmma ? tile_shape_of_mma(p)
                                                              : TileShape::square;
}

template TileShape tile_shape(const BasicProblem<float>&, Variant);
template TileShape tile_shape(const BasicProblem<f16>&, Variant);
template TileShape tile_shape(const BasicProblem<bf16>&, Variant);
template bool supports<float>(Variant, Math);
template bool supports<f16>(Variant, Math);
template bool supports<bf16>(Variant, Math);
template std::size_t workspace_bytes(const BasicProblem<float>&, Variant);
template std::size_t workspace_bytes(const BasicProblem<f16>&, Variant);
template std::size_t workspace_bytes(const BasicProblem<bf16>&, Variant);
template Variant run(const BasicProblem<float>&, Variant, Stream&);
template Variant run(const BasicProblem<f16>&, Variant, Stream&);
template Variant run(const BasicProblem<bf16>&, Variant, Stream&);
template Work work(const BasicProblem<float>&);
template Work work(const BasicProblem<f16>&);
template Work work(const BasicProblem<bf16>&);

} // namespace kg::gemm
