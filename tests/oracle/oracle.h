// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The operations' expected results in fp64, computed from the same values that the kernel reads.
// Shares no code with a kernel or a vendor's library. Each result comes with the condition that
// scales its error bound in tolerance.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ops/elementwise/op.h"
#include "runtime/dtype.h"
#include "runtime/error.h"
#include "tests/oracle/strided.h"

namespace kg::test {

// a op b, correctly rounded to `dtype`. Computing in binary64 and then rounding equals a single
// rounding of the exact result, since 53 >= 2 p + 2 for every p here: S. A. Figueroa, "When is
// double rounding innocuous?", SIGNUM Newsletter 30(3), 1995. By the same theorem (24 >= 2 * 11 +
// 2) an f16 or bf16 kernel that computes in f32 is correctly rounded. f64 and i32 support only the
// sum: f64's by the processor's IEEE addition, i32's modulo 2^32.
std::vector<double> elementwise_oracle(elementwise::Op op, Dtype dtype, std::span<const double> a,
                                       std::span<const double> b);

// Per slice: the sum of x, the sum of |x| and the Euclidean norm of x.
struct SumOracle {
  std::vector<double> value;
  std::vector<double> sum_abs;
  std::vector<double> norm2;
};

// Sums over each row or column of a rows x columns matrix; over all elements: one row. Compensated
// (Neumaier 1974): the error is about 2^-53 |sum| + n^2 2^-106 sum |x|, invisible in a 32-bit
// result. An empty sum is 0.
SumOracle row_sums_oracle(std::span<const double> x, std::int64_t rows, std::int64_t columns);
SumOracle column_sums_oracle(std::span<const double> x, std::int64_t rows, std::int64_t columns);

// exp(x - m) / sum exp(x - m) along each row, m the row's maximum. `distance` is |x - m|, the
// condition of the exponential. By the formula, a row with a NaN or +inf, or of -inf only, is all
// NaN (distance 0); single -inf entries give 0.
struct SoftmaxOracle {
  std::vector<double> value;
  std::vector<double> distance;
};
SoftmaxOracle softmax_oracle(std::span<const double> x, std::int64_t rows, std::int64_t columns);

// columns x rows from rows x columns; for values, bits or elements.
template <typename T>
std::vector<T> transpose_oracle(const std::vector<T>& x, std::int64_t rows, std::int64_t columns) {
  require(static_cast<std::int64_t>(x.size()) == rows * columns,
          "transpose: " + std::to_string(x.size()) + " elements for a " + std::to_string(rows) +
              "x" + std::to_string(columns) + " matrix");
  std::vector<T> result;
  result.reserve(x.size());
  for (std::int64_t j = 0; j < columns; ++j)
    for (std::int64_t i = 0; i < rows; ++i)
      result.push_back(x[static_cast<std::size_t>(i * columns + j)]);
  return result;
}

// alpha A B + beta C, with A (m x k), B (k x n) and C (m x n) as the operation sees them: pass
// transposed(matrix(k, m, lda)) for a transposed A, or strides {1, ld} for column-major storage.
struct GemmProblem {
  Strided a;
  Strided b;
  Strided c;
  double alpha = 1;
  double beta = 0;
};

// Dense, row-major m x n (or one entry per position). condition = |alpha| (|A| |B|)_ij + |beta|
// |C_ij|.
struct GemmOracle {
  std::vector<double> value;
  std::vector<double> condition;
};

// As in BLAS, A and B are not read if alpha = 0 or k = 0, and C is not read if beta = 0: the
// storage may then be empty or NaN. Products of f32 numbers are exact in fp64; the sums err by at
// most k 2^-53 times the condition, 2^-29 k of an f32 unit.
GemmOracle gemm_oracle(const GemmProblem& problem, std::span<const double> a,
                       std::span<const double> b, std::span<const double> c);

struct Position {
  std::int64_t row;
  std::int64_t column;
};

// The first and last row and column, and `count` random positions of an m x n matrix.
std::vector<Position> sample_positions(std::int64_t m, std::int64_t n, std::int64_t count,
                                       std::uint64_t seed);

// Only these entries, for matrices too large to compute completely: O(k) each.
GemmOracle gemm_oracle_sampled(const GemmProblem& problem, std::span<const double> a,
                               std::span<const double> b, std::span<const double> c,
                               std::span<const Position> positions);

} // namespace kg::test
