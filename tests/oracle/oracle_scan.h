// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Running sums and maxima, and their tolerances.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "ops/scan/op.h"
#include "runtime/dtype.h"
#include "tests/oracle/tolerance.h"

namespace kg::test {

// Per result, over the elements it includes: their Euclidean norm, the sum of their magnitudes and
// their number.
struct ScanOracle {
  std::vector<double> value, norm2, sum_abs;
  std::vector<std::int64_t> terms;
};

// Results [first, first + count), including the elements since the start of their segment.
// `segmented`: some segment begins after element 0. x(i) is an element of `dtype`; head(i): whether
// i begins a segment. Elements that repeat after `period` (unless 0) are summed only once. i32 sums
// are modulo 2^32.
template <class X, class Head>
ScanOracle scan_oracle(scan::Op op, scan::Kind kind, Dtype dtype, std::int64_t first,
                       std::int64_t count, X x, bool segmented, Head head,
                       std::int64_t period = 0) {
  const bool integer = dtype == Dtype::i32;
  const bool sums = op == scan::Op::sum;
  const double least =
      integer ? std::numeric_limits<std::int32_t>::min() : -std::numeric_limits<double>::infinity();
  ScanOracle oracle;
  double running = 0, squares = 0, magnitudes = 0;
  std::int64_t terms = 0;
  const auto restart = [&] {
    running = sums ? 0 : least;
    squares = magnitudes = 0;
    terms = 0;
  };
  const auto note = [&] {
    oracle.value.push_back(running);
    oracle.norm2.push_back(std::sqrt(squares));
    oracle.sum_abs.push_back(magnitudes);
    oracle.terms.push_back(terms);
  };
  const auto wrapped = [](double sum) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(static_cast<std::int64_t>(sum)));
  };
  const auto add = [&](double element) {
    if (!sums)
      running = running > element || std::isnan(running) ? running : element;
    else
      running = integer ? wrapped(running + element) : running + element;
    squares += element * element;
    magnitudes += std::fabs(element);
    ++terms;
  };
  restart();
  std::int64_t begin = segmented ? first : 0;
  while (begin > 0 && !head(begin)) --begin;
  if (const std::int64_t periods = segmented || period == 0 ? 0 : first / period; periods > 0) {
    for (std::int64_t i = 0; i < period; ++i) add(x(i));
    const auto times = static_cast<double>(periods);
    if (sums) running = integer ? wrapped(running * times) : running * times;
    squares *= times;
    magnitudes *= times;
    terms = begin = periods * period;
  }
  for (std::int64_t i = begin; i < first + count; ++i) {
    if (head(i)) restart();
    if (kind == scan::Kind::exclusive && i >= first) note();
    add(x(i));
    if (kind == scan::Kind::inclusive && i >= first) note();
  }
  return oracle;
}

// Sums in f32, stored in `dtype`. A result of t terms is the root of a tree of t - 1 additions in
// any order; a term passes through at most `chain` of them, and never more than t - 1.
//
// An addition errs by at most half an ulp of its result, a standard deviation of u / sqrt(3). Its
// result is a sum of adjacent terms: for zero-mean data at most about |x|, their Euclidean norm,
// or, once it includes most of the final result, about the result S. Each term is part of `chain`
// rounded partial sums, so the standard deviation is at most u sqrt(chain / 3) times the larger of
// both; 6 is ten of these. The cap is twice the bound that holds for every order.
inline std::vector<double> scan_sum_tolerances(Dtype dtype, const ScanOracle& oracle,
                                               std::int64_t chain) {
  const double u = unit_roundoff(Dtype::f32);
  std::vector<double> result(oracle.value.size(), 0.0);
  for (std::size_t i = 0; i < result.size(); ++i) {
    if (!std::isfinite(oracle.value[i]) || oracle.terms[i] == 0) continue; // must match exactly
    const auto additions =
        static_cast<double>(std::min(chain, std::max<std::int64_t>(oracle.terms[i] - 1, 0)));
    const double size = std::max(oracle.norm2[i], std::fabs(oracle.value[i]));
    const double computed =
        std::min(6 * u * std::sqrt(additions) * size, 2 * additions * u * oracle.sum_abs[i]);
    result[i] = stored_tolerance(dtype, oracle.value[i], computed);
  }
  return result;
}

} // namespace kg::test
