// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Two-dimensional convolution as in neural networks: the filters are not flipped.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tests/oracle/oracle_pool.h"
#include "tests/oracle/tolerance.h"

namespace kg::test {

// x is batch x in_channels x height x width, the weights are out_channels x in_channels / groups x
// vertical.kernel x horizontal.kernel; both dense in this order.
struct Convolution {
  std::int64_t batch, in_channels, height, width, out_channels;
  PoolAxis vertical = {}, horizontal = {};
  std::int64_t groups = 1;

  std::int64_t out_height() const;
  std::int64_t out_width() const;
  // The number of products in one sum.
  std::int64_t depth() const { return in_channels / groups * vertical.kernel * horizontal.kernel; }
};

// Dense, batch x out_channels x out_height x out_width. `bias` may be empty. Padding does not
// contribute. condition = (|x| * |weights|) + |bias|.
struct ConvolutionOracle {
  std::vector<double> value;
  std::vector<double> condition;
};
ConvolutionOracle convolution_oracle(const Convolution& convolution, std::span<const double> x,
                                     std::span<const double> weights, std::span<const double> bias);

// The gradients of sum(dy * y) with respect to x, weights and bias; each condition is the sum of
// the magnitudes of its products. dy has the layout of y.
struct ConvolutionGradients {
  ConvolutionOracle x, weights, bias;
};
ConvolutionGradients convolution_gradients(const Convolution& convolution,
                                           std::span<const double> x,
                                           std::span<const double> weights,
                                           std::span<const double> dy);

// A convolution is a GEMM of its weights with the windows, with the bias in place of beta C. So the
// bounds are those of gemm for sums of depth() products. If the condition is not finite, there is
// only one correct value.
std::vector<double> convolution_tolerances(Dtype dtype, const Convolution& convolution,
                                           const ConvolutionOracle& oracle);

// The same for sums of `products` products. Gradients are GEMMs as well: for x, of dy with the
// weights, at most out_channels / groups times the kernel's taps; for the weights, of dy with the
// windows; for the bias, of dy with ones: the number of elements in a channel of dy.
std::vector<double> product_tolerances(Dtype dtype, std::int64_t products,
                                       const ConvolutionOracle& oracle);

} // namespace kg::test
