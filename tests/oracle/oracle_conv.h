// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Convolution over windows of two dimensions, as neural networks have it: the filters are not
// turned.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tests/oracle/oracle_pool.h"
#include "tests/oracle/tolerance.h"

namespace kg::test {

// x is batch x in_channels x height x width, the weights are out_channels x in_channels / groups x
// vertical.kernel x horizontal.kernel, both dense in this order.
struct Convolution {
  std::int64_t batch, in_channels, height, width, out_channels;
  PoolAxis vertical = {}, horizontal = {};
  std::int64_t groups = 1;

  std::int64_t out_height() const;
  std::int64_t out_width() const;
  // Products in one sum.
  std::int64_t depth() const { return in_channels / groups * vertical.kernel * horizontal.kernel; }
};

// Dense, batch x out_channels x out_height x out_width. `bias` may be empty. Padding takes no part.
// condition = (|x| * |weights|) + |bias|.
struct ConvolutionOracle {
  std::vector<double> value;
  std::vector<double> condition;
};
ConvolutionOracle convolution_oracle(const Convolution& convolution, std::span<const double> x,
                                     std::span<const double> weights, std::span<const double> bias);

// The gradients of sum(dy * y) by x, the weights and the bias, each with the sum of the magnitudes
// of its products as condition. dy is laid out as y.
struct ConvolutionGradients {
  ConvolutionOracle x, weights, bias;
};
ConvolutionGradients convolution_gradients(const Convolution& convolution,
                                           std::span<const double> x,
                                           std::span<const double> weights,
                                           std::span<const double> dy);

// A convolution is the matrix product of its weights with the windows, and the bias what beta C is
// there: the bounds are gemm's, of sums of depth() products. Where the condition is not finite
// there is one right value.
std::vector<double> convolution_tolerances(Dtype dtype, const Convolution& convolution,
                                           const ConvolutionOracle& oracle);

// The same of sums of `products` products. A gradient is such a matrix product, too: by x of dy
// with the weights, at most out_channels / groups times a kernel's taps; by the weights of dy with
// the windows, and by the bias of dy with ones, as many as a channel of dy has elements.
std::vector<double> product_tolerances(Dtype dtype, std::int64_t products,
                                       const ConvolutionOracle& oracle);

} // namespace kg::test
