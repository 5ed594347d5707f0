// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/oracle/oracle.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "tests/oracle/numbers.h"
#include "tests/oracle/random.h"

namespace kg::test {

namespace {

// Neumaier's sum: the rounding error of each addition is exact in fp64 and summed separately.
class CompensatedSum {
 public:
  void add(double x) {
    const double next = sum_ + x;
    error_ += std::fabs(sum_) >= std::fabs(x) ? (sum_ - next) + x : (x - next) + sum_;
    sum_ = next;
  }
  // With an infinity the error term is NaN; the plain sum is then the IEEE answer (inf, or NaN for
  // inf - inf).
  double value() const { return std::isfinite(sum_) ? sum_ + error_ : sum_; }

 private:
  double sum_ = 0;
  double error_ = 0;
};

SumOracle strided_sums(std::span<const double> x, std::int64_t slices, std::int64_t length,
                       std::int64_t slice_stride, std::int64_t stride) {
  require(static_cast<std::int64_t>(x.size()) == slices * length,
          fmt::format("sum oracle: {} elements for {} sums of {}", x.size(), slices, length));
  SumOracle sums;
  for (std::int64_t s = 0; s < slices; ++s) {
    CompensatedSum total;
    CompensatedSum magnitude;
    CompensatedSum squares;
    for (std::int64_t i = 0; i < length; ++i) {
      const double value = x[static_cast<std::size_t>(s * slice_stride + i * stride)];
      total.add(value);
      magnitude.add(std::fabs(value));
      squares.add(value * value);
    }
    sums.value.push_back(total.value());
    sums.sum_abs.push_back(magnitude.value());
    sums.norm2.push_back(std::sqrt(squares.value()));
  }
  return sums;
}

struct Extents {
  std::int64_t m, n, k;
  bool reads_ab;
  bool reads_c;
};

Extents check(const GemmProblem& p, std::span<const double> a, std::span<const double> b,
              std::span<const double> c) {
  const auto matrix_like = [](const Strided& view) { return view.shape.size() == 2; };
  require(matrix_like(p.a) && matrix_like(p.b) && matrix_like(p.c),
          "gemm oracle: A, B and C must be views of rank 2");
  const Extents e{p.c.shape[0], p.c.shape[1], p.a.shape[1], p.alpha != 0 && p.a.shape[1] > 0,
                  p.beta != 0};
  require(p.a.shape[0] == e.m && p.b.shape[0] == e.k && p.b.shape[1] == e.n,
          fmt::format("gemm oracle: A is {}x{}, B {}x{}, C {}x{}: they do not multiply",
                      p.a.shape[0], p.a.shape[1], p.b.shape[0], p.b.shape[1], e.m, e.n));
  const auto holds = [](std::span<const double> storage, const Strided& view) {
    return static_cast<std::int64_t>(storage.size()) >= view.storage_size();
  };
  require(!e.reads_ab || (holds(a, p.a) && holds(b, p.b)),
          "gemm oracle: the storage of A or B is smaller than its view");
  require(!e.reads_c || holds(c, p.c), "gemm oracle: the storage of C is smaller than its view");
  return e;
}

// alpha * product + beta * C; C is read only if it contributes.
void finish(const GemmProblem& p, const Extents& e, std::span<const double> c, Position at,
            double& value, double& condition) {
  value = e.reads_ab ? p.alpha * value : 0;
  condition = e.reads_ab ? std::fabs(p.alpha) * condition : 0;
  if (!e.reads_c) return;
  const double old = c[static_cast<std::size_t>(p.c.place(at.row * e.n + at.column))];
  value += p.beta * old;
  condition += std::fabs(p.beta * old);
}

// The sum of two i32 numbers modulo 2^32.
double wrapped_sum(double a, double b) {
  const std::int64_t exact = static_cast<std::int64_t>(a) + static_cast<std::int64_t>(b);
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(exact));
}

std::vector<double> magnitudes(const std::vector<double>& values) {
  std::vector<double> result(values);
  for (double& value : result) value = std::fabs(value);
  return result;
}

} // namespace

std::vector<double> elementwise_oracle(elementwise::Op op, Dtype dtype, std::span<const double> a,
                                       std::span<const double> b) {
  require(op == elementwise::Op::add || (dtype != Dtype::f64 && dtype != Dtype::i32),
          "elementwise oracle: f64 and i32 have only add");
  require(a.size() == b.size(),
          fmt::format("elementwise oracle: a has {} elements, b has {}", a.size(), b.size()));
  std::vector<double> result;
  result.reserve(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (dtype == Dtype::i32) {
      result.push_back(wrapped_sum(a[i], b[i]));
      continue;
    }
    double exact = 0;
    switch (op) {
    case elementwise::Op::add: exact = a[i] + b[i]; break;
    case elementwise::Op::sub: exact = a[i] - b[i]; break;
    case elementwise::Op::mul: exact = a[i] * b[i]; break;
    case elementwise::Op::div: exact = a[i] / b[i]; break;
    }
    result.push_back(round_to(dtype, exact));
  }
  return result;
}

SumOracle row_sums_oracle(std::span<const double> x, std::int64_t rows, std::int64_t columns) {
  return strided_sums(x, rows, columns, columns, 1);
}

SumOracle column_sums_oracle(std::span<const double> x, std::int64_t rows, std::int64_t columns) {
  return strided_sums(x, columns, rows, 1, columns);
}

SoftmaxOracle softmax_oracle(std::span<const double> x, std::int64_t rows, std::int64_t columns) {
  require(static_cast<std::int64_t>(x.size()) == rows * columns,
          fmt::format("softmax oracle: {} elements for {}x{}", x.size(), rows, columns));
  SoftmaxOracle result;
  result.value.reserve(x.size());
  result.distance.reserve(x.size());
  for (std::int64_t r = 0; r < rows; ++r) {
    const auto row =
        x.subspan(static_cast<std::size_t>(r * columns), static_cast<std::size_t>(columns));
    double most = -kInfinity;
    bool undefined = false;
    for (const double value : row) {
      most = std::max(most, value);
      undefined = undefined || std::isnan(value);
    }
    undefined = undefined || std::isinf(most);
    if (undefined) {
      result.value.insert(result.value.end(), row.size(), std::numeric_limits<double>::quiet_NaN());
      result.distance.insert(result.distance.end(), row.size(), 0.0);
      continue;
    }
    CompensatedSum sum;
    for (const double value : row) sum.add(std::exp(value - most));
    for (const double value : row) {
      result.value.push_back(std::exp(value - most) / sum.value());
      result.distance.push_back(most - value);
    }
  }
  return result;
}

GemmOracle gemm_oracle(const GemmProblem& problem, std::span<const double> a,
                       std::span<const double> b, std::span<const double> c) {
  const Extents e = check(problem, a, b, c);
  const auto n = static_cast<std::size_t>(e.n);
  const auto k = static_cast<std::size_t>(e.k);
  const auto size = static_cast<std::size_t>(e.m * e.n);
  GemmOracle result{std::vector<double>(size, 0.0), std::vector<double>(size, 0.0)};
  if (e.reads_ab) {
    const std::vector<double> dense_a = gather(a, problem.a);
    const std::vector<double> dense_b = gather(b, problem.b);
    const std::vector<double> abs_b = magnitudes(dense_b);
    // Loop order i-k-j with k in blocks: the block's rows of B stay in cache for all rows of A, and
    // the inner loop vectorizes.
    constexpr std::size_t kBlock = 64;
    for (std::size_t begin = 0; begin < k; begin += kBlock) {
      const std::size_t end = std::min(begin + kBlock, k);
      for (std::size_t i = 0; i < static_cast<std::size_t>(e.m); ++i) {
        double* const value = result.value.data() + i * n;
        double* const condition = result.condition.data() + i * n;
        for (std::size_t l = begin; l < end; ++l) {
          const double factor = dense_a[i * k + l];
          const double magnitude = std::fabs(factor);
          const double* const row = dense_b.data() + l * n;
          const double* const abs_row = abs_b.data() + l * n;
          for (std::size_t j = 0; j < n; ++j) {
            value[j] += factor * row[j];
            condition[j] += magnitude * abs_row[j];
          }
        }
      }
    }
  }
  for (std::int64_t i = 0; i < e.m; ++i) {
    for (std::int64_t j = 0; j < e.n; ++j) {
      const auto at = static_cast<std::size_t>(i * e.n + j);
      finish(problem, e, c, {i, j}, result.value[at], result.condition[at]);
    }
  }
  return result;
}

std::vector<Position> sample_positions(std::int64_t m, std::int64_t n, std::int64_t count,
                                       std::uint64_t seed) {
  std::vector<Position> positions;
  if (m == 0 || n == 0) return positions;
  for (std::int64_t j = 0; j < n; ++j) {
    positions.push_back({0, j});
    positions.push_back({m - 1, j});
  }
  for (std::int64_t i = 0; i < m; ++i) {
    positions.push_back({i, 0});
    positions.push_back({i, n - 1});
  }
  constexpr std::uint64_t kRowStream = 1 << 9;
  constexpr std::uint64_t kColumnStream = kRowStream + 1;
  const Random rows(seed, kRowStream);
  const Random columns(seed, kColumnStream);
  for (std::uint64_t s = 0; s < static_cast<std::uint64_t>(count); ++s)
    positions.push_back({rows.integer(s, 0, m - 1), columns.integer(s, 0, n - 1)});
  return positions;
}

GemmOracle gemm_oracle_sampled(const GemmProblem& problem, std::span<const double> a,
                               std::span<const double> b, std::span<const double> c,
                               std::span<const Position> positions) {
  const Extents e = check(problem, a, b, c);
  GemmOracle result;
  for (const Position at : positions) {
    require(at.row >= 0 && at.row < e.m && at.column >= 0 && at.column < e.n,
            fmt::format("gemm oracle: position ({}, {}) is outside the {}x{} result", at.row,
                        at.column, e.m, e.n));
    double value = 0;
    double condition = 0;
    for (std::int64_t l = 0; e.reads_ab && l < e.k; ++l) {
      const double product = a[static_cast<std::size_t>(problem.a.place(at.row * e.k + l))] *
                             b[static_cast<std::size_t>(problem.b.place(l * e.n + at.column))];
      value += product;
      condition += std::fabs(product);
    }
    finish(problem, e, c, at, value, condition);
    result.value.push_back(value);
    result.condition.push_back(condition);
  }
  return result;
}

} // namespace kg::test
