// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/conv2d_backward.h"

#include "libraries/cuda/cudnn_conv2d.h"
#include "libraries/cuda/scratch.h"

#include <optional>

namespace kg::vendor {
namespace cudnn {
namespace {

using conv2d_backward::Gradient;

// Algorithms that transform their operands have larger errors than a sum of products.
bool sums_input_products(cudnnConvolutionBwdDataAlgo_t algorithm) {
  return algorithm == CUDNN_CONVOLUTION_BWD_DATA_ALGO_0 ||
         algorithm == CUDNN_CONVOLUTION_BWD_DATA_ALGO_1;
}
bool sums_weights_products(cudnnConvolutionBwdFilterAlgo_t algorithm) {
  return algorithm == CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0 ||
         algorithm == CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1 ||
         algorithm == CUDNN_CONVOLUTION_BWD_FILTER_ALGO_3;
}

// A problem as cuDNN's descriptors, and cuDNN's algorithms for it.
class Plan : public ConvolutionDescription {
 public:
  Plan(Gradient gradient, Dtype dtype, const conv2d::Geometry& g, Math math, Stream& stream)
      : ConvolutionDescription(dtype, g), gradient_(gradient), dtype_(dtype), geometry_(g),
        math_(math) {
    int count = 0;
    if (gradient == Gradient::input) {
      cudnnConvolutionBwdDataAlgoPerf_t ranked[CUDNN_CONVOLUTION_BWD_DATA_ALGO_COUNT];
      check_support(cudnnGetConvolutionBackwardDataAlgorithm_v7(
                        handle_on(stream), weights.get(), y.get(), windows.get(), x.get(),
                        CUDNN_CONVOLUTION_BWD_DATA_ALGO_COUNT, &count, ranked),
                    "the heuristic of the input's gradient");
      of_input = usable("the input's gradient", ranked, count, math, sums_input_products,
                        [&](const cudnnConvolutionBwdDataAlgoPerf_t& one, std::size_t* bytes) {
                          use_math_of(one, dtype, windows);
                          return cudnnGetConvolutionBackwardDataWorkspaceSize(
                              handle_on(stream), weights.get(), y.get(), windows.get(), x.get(),
                              one.algo, bytes);
                        });
    }
    if (gradient == Gradient::weights) {
      cudnnConvolutionBwdFilterAlgoPerf_t ranked[CUDNN_CONVOLUTION_BWD_FILTER_ALGO_COUNT];
      check_support(cudnnGetConvolutionBackwardFilterAlgorithm_v7(
                        handle_on(stream), x.get(), y.get(), windows.get(), weights.get(),
                        CUDNN_CONVOLUTION_BWD_FILTER_ALGO_COUNT, &count, ranked),
                    "the heuristic of the weights' gradient");
      of_weights = usable("the weights' gradient", ranked, count, math, sums_weights_products,
                          [&](const cudnnConvolutionBwdFilterAlgoPerf_t& one, std::size_t* bytes) {
                            use_math_of(one, dtype, windows);
                            return cudnnGetConvolutionBackwardFilterWorkspaceSize(
                                handle_on(stream), x.get(), y.get(), windows.get(), weights.get(),
                                one.algo, bytes);
                          });
    }
  }

  bool is_for(const Conv2dBackward& p, Math math) const {
    return p.gradient == gradient_ && p.dtype == dtype_ && p.geometry == geometry_ && math == math_;
  }

  Proposals<cudnnConvolutionBwdDataAlgoPerf_t> of_input{{}, ""};
  Proposals<cudnnConvolutionBwdFilterAlgoPerf_t> of_weights{{}, ""};

 private:
  Gradient gradient_;
  Dtype dtype_;
  conv2d::Geometry geometry_;
  Math math_;
};

// Keeps the plan of the last problem: the heuristic takes longer than a small convolution.
Plan& plan_of(const Conv2dBackward& problem, Math math, Stream& stream) {
  thread_local std::optional<Plan> kept;
  if (!kept || !kept->is_for(problem, math))
    kept.emplace(problem.gradient, problem.dtype, problem.geometry, math, stream);
  return *kept;
}

bool conv2d_backward_supported(Gradient, Dtype dtype, const conv2d::Geometry& geometry) {
  return convolution_supported(dtype, geometry);
}

void conv2d_backward(const Conv2dBackward& p, Math math, Stream& stream) {
  Plan& plan = plan_of(p, math, stream);
  const cudnnHandle_t handle = handle_on(stream);
  switch (p.gradient) {
  case Gradient::input:
    run_proposals(plan.of_input, math, stream, [&](const cudnnConvolutionBwdDataAlgoPerf_t& one) {
      use_math_of(one, p.dtype, plan.windows);
      check_support(cudnnConvolutionBackwardData(handle, &kOne, plan.weights.get(), p.weights,
                                                 plan.y.get(), p.dy, plan.windows.get(), one.algo,
                                                 scratch(one.memory, stream), one.memory, &kZero,
                                                 plan.x.get(), p.result),
                    "the input's gradient");
    });
    break;
  case Gradient::weights:
    run_proposals(plan.of_weights, math, stream,
                  [&](const cudnnConvolutionBwdFilterAlgoPerf_t& one) {
                    use_math_of(one, p.dtype, plan.windows);
                    check_support(cudnnConvolutionBackwardFilter(
                                      handle, &kOne, plan.x.get(), p.x, plan.y.get(), p.dy,
                                      plan.windows.get(), one.algo, scratch(one.memory, stream),
                                      one.memory, &kZero, plan.weights.get(), p.result),
                                  "the weights' gradient");
                  });
    break;
  case Gradient::bias:
    check_support(cudnnConvolutionBackwardBias(handle, &kOne, plan.y.get(), p.dy, &kZero,
                                               plan.bias.get(), p.result),
                  "the bias' gradient");
    break;
  }
}

} // namespace
} // namespace cudnn

const Table<Conv2dBackwardVariant> conv2d_backward_table = {
    {"cudnn", cudnn::conv2d_backward_supported, cudnn::conv2d_backward}};

} // namespace kg::vendor
