// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Compares a kernel's result with the expectation, element by element. Nothing is averaged: one
// wrong element fails. An element's class (NaN, infinity, sign of zero) is checked before its
// distance. The distance must satisfy !(distance <= tolerance) to fail, so a NaN on either side
// fails.
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
  must_match, // the sign of an expected zero must match
};

// The expected result of `shape`. The arrays are dense and row-major, and must outlive the call.
struct Expectation {
  Dtype dtype;                     // of the stored result
  std::vector<std::int64_t> shape; //
  std::span<const double>
      value; // from the oracle, unrounded unless the operation requires one exact result
  std::span<const double> tolerance; // per element, absolute, finite and >= 0; empty: exact
  std::span<const double> unit = {}; // unit of `max_error` and `rms_error`; empty: the tolerance
  SignedZero zero = SignedZero::ignored;

  double tolerance_at(std::size_t i) const { return tolerance.empty() ? 0 : tolerance[i]; }
};

// Exactly this value in `dtype`, including the sign of zero; NaN payloads may differ.
inline Expectation exactly(Dtype dtype, std::vector<std::int64_t> shape,
                           std::span<const double> value) {
  return {dtype, std::move(shape), value, {}, {}, SignedZero::must_match};
}

struct Mismatch {
  std::int64_t index = -1; // row-major index
  double actual = 0;
  double expected = 0;
  double error = 0; // infinite if the classes differ
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
  std::int64_t special = 0;                // elements whose expected value is NaN or infinite
  Mismatch worst = {};                     // the failure with the largest error / tolerance
  std::vector<Mismatch> first = {};        // the first eight failures
  std::vector<std::int64_t> failures = {}; // the row-major indices of all failures, ascending
  double max_error = 0;                    // in units, over all elements with a finite expectation
  double rms_error = 0;
  double share = 0; // largest error / tolerance of these elements, if there are tolerances

  // Every element was compared and none failed.
  bool passed() const;
  // The failure as several lines, without the case's context; "" if passed.
  std::string text() const;
};

// Throws kg::Error if the arrays' sizes differ from the shape or a tolerance is not a finite number
// >= 0. If `actual` has bits, an element that is still poisoned fails even where NaN is expected.
Comparison compare(const Observed& actual, const Expectation& expected);

// Bit for bit, NaN payloads included: for operations that only move data.
Comparison compare_bits(const Observed& actual, std::vector<std::int64_t> shape,
                        std::span<const std::uint64_t> expected);

} // namespace kg::test
