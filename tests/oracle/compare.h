// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Comparison of a kernel's result with what is expected, element by element. Nothing is averaged
// away: one wrong element fails. The class of an element (NaN, infinity, zero's sign) is judged
// before its distance, and the distance by
// !(distance <= tolerance), so that no NaN slips through on either side.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/dtype.h"
#include "tests/oracle/numbers.h"

namespace kg::test {

enum class SignedZero {
  ignored,    // +0 and -0 are equal
  must_match, // where the expected value is a zero, its sign counts
};

// What a result of `shape` should be. The arrays are dense, in row-major order, and outlive the
// call.
struct Expectation {
  Dtype dtype;                     // of the stored result
  std::vector<std::int64_t> shape; //
  std::span<const double>
      value; // the oracle's, not rounded to dtype unless the operation demands one exact result
  std::span<const double> tolerance; // per element, absolute, finite and >= 0; or empty: exact
  std::span<const double> unit = {}; // of `max_error` and `rms_error`; empty: the tolerance
  SignedZero zero = SignedZero::ignored;

  double tolerance_at(std::size_t i) const { return tolerance.empty() ? 0 : tolerance[i]; }
};

// Exactly this value in `dtype`, the sign of zero included; NaN payloads are free.
inline Expectation exactly(Dtype dtype, std::vector<std::int64_t> shape,
                           std::span<const double> value) {
  return {dtype, std::move(shape), value, {}, {}, SignedZero::must_match};
}

struct Mismatch {
  std::int64_t index = -1; // row-major number
  double actual = 0;
  double expected = 0;
  double error = 0; // infinite where the classes differ
  double tolerance = 0;
  std::uint64_t actual_bits = 0; // set in bitwise comparisons
  std::uint64_t expected_bits = 0;
  bool unwritten = false; // still the poison of hygiene.h
};

struct Comparison {
  Dtype dtype;
  std::vector<std::int64_t> shape;
  bool bitwise = false;
  bool exact = false; // no element had a tolerance
  std::int64_t compared = 0;
  std::int64_t failed = 0;
  std::int64_t unwritten = 0;
  std::int64_t special = 0;                // elements that should be NaN or infinite
  Mismatch worst = {};                     // the failure with the largest error / tolerance
  std::vector<Mismatch> first = {};        // the first eight failures
  std::vector<std::int64_t> failures = {}; // the row-major numbers of all failures, ascending
  double max_error = 0;                    // in units, over all elements of finite expectation
  double rms_error = 0;
  double share = 0; // the largest error / tolerance of these elements, if there are tolerances

  // Every element was compared and none failed.
  bool passed() const;
  // The failure in several lines, without the case's context; "" if passed.
  std::string text() const;
};

// Throws kg::Error where the arrays' sizes differ from the shape or a tolerance is not a finite
// number >= 0. If `actual` has bits, an element that is still poison fails even where NaN is
// expected.
Comparison compare(const Observed& actual, const Expectation& expected);

// Bit for bit, NaN payloads included: for operations that only move data.
Comparison compare_bits(const Observed& actual, std::vector<std::int64_t> shape,
                        std::span<const std::uint64_t> expected);

} // namespace kg::test
