// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The gradients of batch normalisation in training, in fp64. Tensors are channel-major: `channels`
// rows, each with all elements of a channel in any order. Like a kernel, the oracle uses the
// statistics as they were stored.
#pragma once

#include <span>

#include "tests/oracle/oracle_norm_backward.h"

namespace kg::test {

// With n = (x - mean) rstd and sums over the N elements of channel c:
//   dbeta[c] = sum of dy, dgamma[c] = sum of dy n
//   dx = gamma[c] rstd (dy - dbeta[c] / N - n dgamma[c] / N)
// A channel corresponds to a row of layer normalisation with one gamma for the whole row. So dx has
// the same error units, and norm_backward_dx_tolerances bounds it, including the product with
// gamma. dgamma and dbeta have one entry per channel, bounded by norm_backward_column_tolerances.
// gamma has one entry per channel, or is empty: 1.
NormBackwardOracle batch_norm_backward_oracle(std::span<const double> dy, std::span<const double> x,
                                              std::span<const double> gamma,
                                              std::span<const double> mean,
                                              std::span<const double> rstd);

} // namespace kg::test
