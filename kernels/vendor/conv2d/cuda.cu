// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "vendor/conv2d/conv2d.h"

#include "vendor/conv2d/cudnn_conv2d.h"
#include "vendor/cuda/scratch.h"

#include <algorithm>
#include <optional>
#include <string>

namespace kg::vendor {
namespace cudnn {
namespace {

// Transforms change the numbers before they are multiplied, and err by more than a sum of products.
bool sums_products(cudnnConvolutionFwdAlgo_t algorithm) {
  return algorithm == CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM ||
         algorithm == CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM ||
         algorithm == CUDNN_CONVOLUTION_FWD_ALGO_GEMM ||
         algorithm == CUDNN_CONVOLUTION_FWD_ALGO_DIRECT;
}

// A problem in cuDNN's words, and the algorithm that its heuristic ranks first: of all that need no
// more than kMostWorkspace, or for `pedantic` of those that add up products in a fixed order.
class Plan {
 public:
  Plan(Dtype dtype, const conv2d::Geometry& g, Math math, Stream& stream)
      : x(type_of(dtype).value(), g.layout, g.batch, g.in_channels, g.height, g.width),
        y(type_of(dtype).value(), g.layout, g.batch, g.out_channels, g.out_height(), g.out_width()),
        bias(type_of(dtype).value(), g.layout, 1, g.out_channels, 1, 1),
        weights(type_of(dtype).value(), g), windows(type_of(dtype).value(), g), dtype_(dtype),
        geometry_(g), math_(math) {
    constexpr std::size_t kMostWorkspace = std::size_t{1} << 30;
    cudnnConvolutionFwdAlgoPerf_t ranked[CUDNN_CONVOLUTION_FWD_ALGO_COUNT];
    int count = 0;
    KG_CHECK(cudnnGetConvolutionForwardAlgorithm_v7(
        handle_on(stream), x.get(), weights.get(), windows.get(), y.get(),
        CUDNN_CONVOLUTION_FWD_ALGO_COUNT, &count, ranked));
    auto* const end = ranked + count;
    auto* const found = std::find_if(ranked, end, [&](const auto& one) {
      return one.status == CUDNN_STATUS_SUCCESS && one.memory <= kMostWorkspace &&
             (math == Math::fastest ||
              (sums_products(one.algo) && one.determinism == CUDNN_DETERMINISTIC));
    });
    require(found != end, "kg::vendor::conv2d: cuDNN has no algorithm for this problem");
    algorithm = found->algo;
    workspace_bytes = found->memory;
    // What the heuristic says it ran with may be TF32; the descriptor decides.
    if (dtype != Dtype::f32) KG_CHECK(cudnnSetConvolutionMathType(windows.get(), found->mathType));
  }

  bool is_for(Dtype dtype, const conv2d::Geometry& g, Math math) const {
    return dtype == dtype_ && g == geometry_ && math == math_;
  }

  const ImageDescriptor x, y, bias;
  const FilterDescriptor weights;
  const ConvolutionDescriptor windows;
  cudnnConvolutionFwdAlgo_t algorithm;
  std::size_t workspace_bytes;

 private:
  Dtype dtype_;
  conv2d::Geometry geometry_;
  Math math_;
};

// The one of the last problem is kept: asking the heuristic takes longer than a small convolution.
const Plan& plan_of(const Conv2d& problem, Math math, Stream& stream) {
  thread_local std::optional<Plan> kept;
  if (!kept || !kept->is_for(problem.dtype, problem.geometry, math))
    kept.emplace(problem.dtype, problem.geometry, math, stream);
  return *kept;
}

// y holds the bias when the convolution is added to it: one rounding.
void conv2d(const Conv2d& problem, Math math, Stream& stream) {
  const Plan& plan = plan_of(problem, math, stream);
  const cudnnHandle_t handle = handle_on(stream);
  const float one = 1;
  const float zero = 0;
  const bool biased = problem.bias != nullptr;
  if (biased)
    KG_CHECK(cudnnAddTensor(handle, &one, plan.bias.get(), problem.bias, &zero, plan.y.get(),
                            problem.y));
  KG_CHECK(cudnnConvolutionForward(handle, &one, plan.x.get(), problem.x, plan.weights.get(),
                                   problem.weights, plan.windows.get(), plan.algorithm,
                                   scratch(plan.workspace_bytes, stream), plan.workspace_bytes,
                                   biased ? &one : &zero, plan.y.get(), problem.y));
}

} // namespace
} // namespace cudnn

namespace {

constexpr Conv2dVariant kTable[] = {
    {"cudnn", cudnn::convolution_supported, cudnn::conv2d},
};

} // namespace

std::span<const Conv2dVariant> conv2d_table() { return kTable; }

} // namespace kg::vendor
