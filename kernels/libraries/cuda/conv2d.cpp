// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/conv2d.h"

#include "libraries/cuda/cudnn_conv2d.h"
#include "libraries/cuda/scratch.h"

#include <optional>

namespace kg::vendor {
namespace cudnn {
namespace {

// Algorithms that transform their operands have larger errors than a sum of products.
bool sums_products(cudnnConvolutionFwdAlgo_t algorithm) {
  return algorithm == CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM ||
         algorithm == CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM ||
         algorithm == CUDNN_CONVOLUTION_FWD_ALGO_GEMM ||
         algorithm == CUDNN_CONVOLUTION_FWD_ALGO_DIRECT;
}

// A problem as cuDNN's descriptors, and cuDNN's algorithms for it.
class Plan : public ConvolutionDescription {
 public:
  Plan(Dtype dtype, const conv2d::Geometry& g, Math math, Stream& stream)
      : ConvolutionDescription(dtype, g), dtype_(dtype), geometry_(g), math_(math) {
    cudnnConvolutionFwdAlgoPerf_t ranked[CUDNN_CONVOLUTION_FWD_ALGO_COUNT];
    int count = 0;
    check_support(cudnnGetConvolutionForwardAlgorithm_v7(
                      handle_on(stream), x.get(), weights.get(), windows.get(), y.get(),
                      CUDNN_CONVOLUTION_FWD_ALGO_COUNT, &count, ranked),
                  "the heuristic of conv2d");
    proposals = usable("conv2d", ranked, count, math, sums_products,
                       [&](const cudnnConvolutionFwdAlgoPerf_t& one, std::size_t* bytes) {
                         use_math_of(one, dtype, windows);
                         return cudnnGetConvolutionForwardWorkspaceSize(
                             handle_on(stream), x.get(), weights.get(), windows.get(), y.get(),
                             one.algo, bytes);
                       });
  }

  bool is_for(Dtype dtype, const conv2d::Geometry& g, Math math) const {
    return dtype == dtype_ && g == geometry_ && math == math_;
  }

  Proposals<cudnnConvolutionFwdAlgoPerf_t> proposals{{}, ""};

 private:
  Dtype dtype_;
  conv2d::Geometry geometry_;
  Math math_;
};

// Keeps the plan of the last problem: the heuristic takes longer than a small convolution.
Plan& plan_of(const Conv2d& problem, Math math, Stream& stream) {
  thread_local std::optional<Plan> kept;
  if (!kept || !kept->is_for(problem.dtype, problem.geometry, math))
    kept.emplace(problem.dtype, problem.geometry, math, stream);
  return *kept;
}

// Writes the bias to y, then adds the convolution to it, with one rounding.
void conv2d(const Conv2d& problem, Math math, Stream& stream) {
  Plan& plan = plan_of(problem, math, stream);
  const cudnnHandle_t handle = handle_on(stream);
  const bool biased = problem.bias != nullptr;
  run_proposals(plan.proposals, math, stream, [&](const cudnnConvolutionFwdAlgoPerf_t& one) {
    if (biased)
      KG_CHECK(cudnnAddTensor(handle, &kOne, plan.bias.get(), problem.bias, &kZero, plan.y.get(),
                              problem.y));
    use_math_of(one, problem.dtype, plan.windows);
    check_support(cudnnConvolutionForward(handle, &kOne, plan.x.get(), problem.x,
                                          plan.weights.get(), problem.weights, plan.windows.get(),
                                          one.algo, scratch(one.memory, stream), one.memory,
                                          biased ? &kOne : &kZero, plan.y.get(), problem.y),
                  "conv2d");
  });
}

} // namespace
} // namespace cudnn

const Table<Conv2dVariant> conv2d_table = {{"cudnn", cudnn::convolution_supported, cudnn::conv2d}};

} // namespace kg::vendor
