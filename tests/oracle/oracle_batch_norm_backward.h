// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The gradients of batch normalisation in training, in fp64. Tensors are channel-major: `channels`
// rows of all of a channel's elements, in whatever order. As a kernel does, the oracle takes the
// statistics as they were stored.
#pragma once

#include <span>

#include "tests/oracle/oracle_norm_backward.h"

namespace kg::test {

// With n = (x - mean) rstd and sums over the N elements of channel c:
//   dbeta[c] = sum of dy, dgamma[c] = sum of dy n
//   dx = gamma[c] rstd (dy - dbeta[c] / N - n dgamma[c] / N)
// A channel is a row of layer normalisation whose gamma is a factor of the whole row, so dx errs in
// the same units, and norm_backward_dx_tolerances bounds it, the product with gamma among the
// roundings that it counts; dgamma and dbeta have one entry per channel and the bounds of
// norm_backward_column_tolerances. gamma has one entry per channel, or none: 1.
NormBackwardOracle batch_norm_backward_oracle(std::span<const double> dy, std::span<const double> x,
                                              std::span<const double> gamma,
                                              std::span<const double> mean,
                                              std::span<const double> rstd);

} // namespace kg::test
