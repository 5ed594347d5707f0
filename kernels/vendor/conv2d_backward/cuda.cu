// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "vendor/conv2d_backward/conv2d_backward.h"

#include "vendor/conv2d/cudnn_conv2d.h"
#include "vendor/cuda/scratch.h"

#include <algorithm>
#include <optional>

namespace kg::vendor {
namespace cudnn {
namespace {

using conv2d_backward::Gradient;

// Transforms change the numbers before they are multiplied, and err by more than a sum of products.
bool sums_products(cudnnConvolutionBwdDataAlgo_t algorithm) {
  return algorithm == CUDNN_CONVOLUTION_BWD_DATA_ALGO_0 ||
         algorithm == CUDNN_CONVOLUTION_BWD_DATA_ALGO_1;
}
bool sums_products(cudnnConvolutionBwdFilterAlgo_t algorithm) {
  return algorithm == CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0 ||
         algorithm == CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1 ||
         algorithm == CUDNN_CONVOLUTION_BWD_FILTER_ALGO_3;
}

// A problem in cuDNN's words, and the algorithm that its heuristic ranks first: of all that need no
// more than kMostWorkspace, or for `pedantic` of those that add up products in a fixed order.
class Plan {
 public:
  Plan(Gradient gradient, Dtype dtype, const conv2d::Geometry& g, Math math, Stream& stream)
      : x(type_of(dtype).value(), g.layout, g.batch, g.in_channels, g.height, g.width),
        y(type_of(dtype).value(), g.layout, g.batch, g.out_channels, g.out_height(), g.out_width()),
        bias(type_of(dtype).value(), g.layout, 1, g.out_channels, 1, 1),
        weights(type_of(dtype).value(), g), windows(type_of(dtype).value(), g), gradient_(gradient),
        dtype_(dtype), geometry_(g), math_(math) {
    int count = 0;
    if (gradient == Gradient::input) {
      cudnnConvolutionBwdDataAlgoPerf_t ranked[CUDNN_CONVOLUTION_BWD_DATA_ALGO_COUNT];
      KG_CHECK(cudnnGetConvolutionBackwardDataAlgorithm_v7(
          handle_on(stream), weights.get(), y.get(), windows.get(), x.get(),
          CUDNN_CONVOLUTION_BWD_DATA_ALGO_COUNT, &count, ranked));
      of_input = take(ranked, count);
    }
    if (gradient == Gradient::weights) {
      cudnnConvolutionBwdFilterAlgoPerf_t ranked[CUDNN_CONVOLUTION_BWD_FILTER_ALGO_COUNT];
      KG_CHECK(cudnnGetConvolutionBackwardFilterAlgorithm_v7(
          handle_on(stream), x.get(), y.get(), windows.get(), weights.get(),
          CUDNN_CONVOLUTION_BWD_FILTER_ALGO_COUNT, &count, ranked));
      of_weights = take(ranked, count);
    }
  }

  bool is_for(const Conv2dBackward& p, Math math) const {
    return p.gradient == gradient_ && p.dtype == dtype_ && p.geometry == geometry_ && math == math_;
  }

  const ImageDescriptor x, y, bias;
  const FilterDescriptor weights;
  const ConvolutionDescriptor windows;
  cudnnConvolutionBwdDataAlgo_t of_input = {};
  cudnnConvolutionBwdFilterAlgo_t of_weights = {};
  std::size_t workspace_bytes = 0;

 private:
  template <class Ranked>
  decltype(Ranked::algo) take(const Ranked* ranked, int count) {
    constexpr std::size_t kMostWorkspace = std::size_t{1} << 30;
    const Ranked* const end = ranked + count;
    const Ranked* const found = std::find_if(ranked, end, [&](const Ranked& one) {
      return one.status == CUDNN_STATUS_SUCCESS && one.memory <= kMostWorkspace &&
             (math_ == Math::fastest ||
              (sums_products(one.algo) && one.determinism == CUDNN_DETERMINISTIC));
    });
    require(found != end, "kg::vendor::conv2d_backward: cuDNN has no algorithm for this problem");
    workspace_bytes = found->memory;
    // What the heuristic says it ran with may be TF32; the descriptor decides.
    if (dtype_ != Dtype::f32) KG_CHECK(cudnnSetConvolutionMathType(windows.get(), found->mathType));
    return found->algo;
  }

  Gradient gradient_;
  Dtype dtype_;
  conv2d::Geometry geometry_;
  Math math_;
};

// The one of the last problem is kept: asking the heuristic takes longer than a small convolution.
const Plan& plan_of(const Conv2dBackward& problem, Math math, Stream& stream) {
  thread_local std::optional<Plan> kept;
  if (!kept || !kept->is_for(problem, math))
    kept.emplace(problem.gradient, problem.dtype, problem.geometry, math, stream);
  return *kept;
}

bool conv2d_backward_supported(Gradient, Dtype dtype, const conv2d::Geometry& geometry) {
  return convolution_supported(dtype, geometry);
}

void conv2d_backward(const Conv2dBackward& p, Math math, Stream& stream) {
  const Plan& plan = plan_of(p, math, stream);
  const cudnnHandle_t handle = handle_on(stream);
  void* const workspace = scratch(plan.workspace_bytes, stream);
  const float one = 1;
  const float zero = 0;
  switch (p.gradient) {
  case Gradient::input:
    KG_CHECK(cudnnConvolutionBackwardData(handle, &one, plan.weights.get(), p.weights, plan.y.get(),
                                          p.dy, plan.windows.get(), plan.of_input, workspace,
                                          plan.workspace_bytes, &zero, plan.x.get(), p.result));
    break;
  case Gradient::weights:
    KG_CHECK(cudnnConvolutionBackwardFilter(
        handle, &one, plan.x.get(), p.x, plan.y.get(), p.dy, plan.windows.get(), plan.of_weights,
        workspace, plan.workspace_bytes, &zero, plan.weights.get(), p.result));
    break;
  case Gradient::bias:
    KG_CHECK(cudnnConvolutionBackwardBias(handle, &one, plan.y.get(), p.dy, &zero, plan.bias.get(),
                                          p.result));
    break;
  }
}

} // namespace
} // namespace cudnn

namespace {

constexpr Conv2dBackwardVariant kTable[] = {
    {"cudnn", cudnn::conv2d_backward_supported, cudnn::conv2d_backward},
};

} // namespace

std::span<const Conv2dBackwardVariant> conv2d_backward_table() { return kTable; }

} // namespace kg::vendor
