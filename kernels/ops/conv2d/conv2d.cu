// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Variant selection and argument checks of conv2d. Theoretical minimum: x and weights read once, y
// written once. With 3x3 and 64 channels, that is 144 multiply-adds per element of x, more than a
// GPU without Tensor Cores completes while its memory moves one element.
#include "ops/conv2d/conv2d.h"

#include "ops/conv2d/variants.h"
#include "ops/gemm/gemm.h"
#include "primitives/pack.h"
#include "runtime/error.h"

#include <string>
#include <type_traits>

namespace kg::conv2d {
namespace {

// With fewer output channels or positions, most of a tile of the matrix product is padding. Lower
// bounds on time for an H200 (perf/code/timing_model), 8 channels of y, 4 of x, 32 x 32 positions,
// in ns for 3x3 and 5x5. f32: direct 3358 and 5992, implicit_gemm 4051 and 6598. 16 bits: direct
// 3446 and 5880, implicit_gemm on Tensor Cores 2817 and 3511, im2col 11642 and 14037.
constexpr std::int64_t kLeastChannels = 16, kLeastChannelsOfMma = 8;
constexpr std::int64_t kLeastPlaces = 32;

template <class T>
void require_variant(Variant variant) {
  require(supports<T>(variant), [&] {
    return "conv2d: no variant " + std::string(name(variant)) + " for " +
           std::string(kg::name(dtype_of<T>)) + " on this device; use automatic, direct or im2col";
  });
}

bool can_be_depthwise(const Geometry& g) { return g.is_depthwise() && g.taps() <= kMostTaps; }

void require_depthwise(const Geometry& g) {
  require(can_be_depthwise(g), [&] {
    return "conv2d: variant depthwise is for groups of one input channel and kernels of at most " +
           std::to_string(kMostTaps) + " taps; here in_channels is " +
           std::to_string(g.in_channels) + ", groups is " + std::to_string(g.groups) +
           ", and there are " + std::to_string(g.taps()) + " taps; use automatic";
  });
}

template <class T>
Variant chosen(const Geometry& geometry, Variant variant) {
  if (variant == Variant::automatic) return resolve<T>(geometry);
  require_variant<T>(variant);
  if (variant == Variant::depthwise) require_depthwise(geometry);
  return variant;
}

void require_pointer(const char* what, const void* pointer) {
  require(pointer != nullptr,
          [&] { return "conv2d: " + std::string(what) + " is null; pass device memory"; });
}

} // namespace

template <class T>
bool supports(Variant variant) {
  if (variant != Variant::implicit_gemm || std::is_same_v<T, float>) return true;
  return gemm::supports<T>(gemm::Variant::mma);
}

template <class T>
bool supports(Variant variant, const Geometry& geometry) {
  return supports<T>(variant) && (variant != Variant::depthwise || can_be_depthwise(geometry));
}

template <class T>
Variant resolve(const Geometry& g) {
  if (can_be_depthwise(g)) return Variant::depthwise;
  const bool implicit = supports<T>(Variant::implicit_gemm);
  const std::int64_t least =
      implicit && !std::is_same_v<T, float> ? kLeastChannelsOfMma : kLeastChannels;
  if (g.group_outputs() < least || g.batch * g.out_places() < kLeastPlaces) return Variant::direct;
  return implicit ? Variant::implicit_gemm : Variant::im2col;
}

template <class T>
std::size_t workspace_bytes(const Geometry& geometry, Variant variant) {
  require_geometry("conv2d", geometry);
  return chosen<T>(geometry, variant) == Variant::im2col ? im2col_workspace_bytes<T>(geometry) : 0;
}

template <class T>
Variant run(const Problem<T>& problem, Variant variant, Stream& stream) {
  const Geometry& g = problem.geometry;
  const std::size_t needed = workspace_bytes<T>(g, variant);
  variant = chosen<T>(g, variant);
  if (g.batch == 0) return variant;
  require_pointer("x", problem.x);
  require_pointer("weights", problem.weights);
  require_pointer("y", problem.y);
  require(needed == 0 || (problem.workspace != nullptr &&
                          is_aligned(static_cast<const char*>(problem.workspace))),
          [&] {
            return "conv2d: workspace is null or not aligned; pass " + std::to_string(needed) +
                   " bytes of device memory, aligned to 16";
          });
  if (variant == Variant::direct)
    run_direct(problem, stream);
  else if (variant == Variant::im2col)
    run_im2col(problem, stream);
  else if (variant == Variant::depthwise && g.layout == Layout::nchw)
    run_depthwise_nchw(problem, stream);
  else if (variant == Variant::depthwise)
    run_depthwise_nhwc(problem, stream);
  else if (variant == Variant::jit)
    run_jit(problem, stream);
  else if constexpr (std::is_same_v<T, float>)
    run_implicit_gemm(problem, stream);
  else
    run_implicit_gemm_mma(problem, stream);
  return variant;
}

template bool supports<float>(Variant);
template bool supports<f16>(Variant);
template bool supports<bf16>(Variant);
template bool supports<float>(Variant, const Geometry&);
template bool supports<f16>(Variant, const Geometry&);
template bool supports<bf16>(Variant, const Geometry&);
template Variant resolve<float>(const Geometry&);
template Variant resolve<f16>(const Geometry&);
template Variant resolve<bf16>(const Geometry&);
template std::size_t workspace_bytes<float>(const Geometry&, Variant);
template std::size_t workspace_bytes<f16>(const Geometry&, Variant);
template std::size_t workspace_bytes<bf16>(const Geometry&, Variant);
template Variant run(const Problem<float>&, Variant, Stream&);
template Variant run(const Problem<f16>&, Variant, Stream&);
template Variant run(const Problem<bf16>&, Variant, Stream&);

Work work(Dtype dtype, const Geometry& g) {
  const auto outputs = static_cast<double>(g.outputs());
  return {.bytes = (static_cast<double>(g.inputs() + g.weights()) + outputs) *
                   static_cast<double>(size_of(dtype)),
          .written = outputs * static_cast<double>(size_of(dtype)),
          .flops = 2 * outputs * static_cast<double>(g.depth())};
}

} // namespace kg::conv2d
