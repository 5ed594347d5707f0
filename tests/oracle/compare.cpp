// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/oracle/compare.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "runtime/error.h"
#include "tests/oracle/pattern.h"
#include "tests/oracle/strided.h"

namespace kg::test {

namespace {

constexpr double kBeyondTolerance = std::numeric_limits<double>::infinity();
constexpr std::size_t kShown = 8;

// The error of one element; infinite if its class is wrong.
struct Verdict {
  double error;
  bool accepted;
};

constexpr Verdict kWrongClass{kBeyondTolerance, false};
constexpr Verdict kRightClass{0, true};

Verdict judge(Dtype dtype, double actual, double expected, double tolerance, SignedZero zero) {
  if (std::isnan(expected)) return std::isnan(actual) ? kRightClass : kWrongClass;
  if (std::isnan(actual)) return kWrongClass;
  if (std::isinf(expected)) return actual == expected ? kRightClass : kWrongClass;
  if (std::isinf(actual)) {
    // A finite oracle value at the end of the range may be stored as infinity, if the tolerance
    // includes values that round to infinity.
    const double farthest = expected + std::copysign(tolerance, actual);
    return !is_integer(dtype) && round_to(dtype, farthest) == actual ? kRightClass : kWrongClass;
  }
  if (zero == SignedZero::must_match && expected == 0 && actual == 0 &&
      std::signbit(expected) != std::signbit(actual))
    return kWrongClass;
  const double error = std::fabs(actual - expected);
  return {error, error <= tolerance};
}

// No error gives 0, whatever the unit; an error with unit 0 is infinite.
double in_units(double error, double unit) {
  if (error == 0) return 0;
  return unit > 0 ? error / unit : kBeyondTolerance;
}

// Collects the failures of a comparison as they are found, in ascending order.
class Failures {
 public:
  explicit Failures(Comparison& result) : result_(result) {}

  void add(const Mismatch& mismatch) {
    ++result_.failed;
    if (mismatch.unwritten) ++result_.unwritten;
    if (result_.first.size() < kShown) result_.first.push_back(mismatch);
    const double severity = in_units(mismatch.error, mismatch.tolerance);
    if (result_.failed == 1 || severity > worst_) {
      worst_ = severity;
      result_.worst = mismatch;
    }
    result_.failures.push_back(mismatch.index);
  }

 private:
  Comparison& result_;
  double worst_ = 0;
};

void require_size(const char* what, std::size_t size, std::span<const std::int64_t> shape) {
  require(
      static_cast<std::int64_t>(size) == element_count(shape),
      fmt::format("compare: {} elements of {} for shape [{}]", size, what, fmt::join(shape, ", ")));
}

std::string show(const Comparison& result, const Mismatch& m) {
  const std::string where =
      fmt::format("({})", fmt::join(coordinates(m.index, result.shape), ", "));
  const char* note = m.unwritten ? ", never written" : "";
  if (result.bitwise) {
    const auto digits = 2 * size_of(result.dtype);
    return fmt::format("{}: actual {:#0{}x}, expected {:#0{}x}{}", where, m.actual_bits, digits + 2,
                       m.expected_bits, digits + 2, note);
  }
  const std::string values =
      fmt::format("{}: actual {:.9g}, expected {:.9g}", where, m.actual, m.expected);
  if (std::isinf(m.error)) return fmt::format("{}{}", values, note);
  if (m.tolerance == 0) return fmt::format("{}, error {:.3g}, must be exact", values, m.error);
  return fmt::format("{}, error {:.3g} = {:.3g} x tolerance {:.3g}", values, m.error,
                     m.error / m.tolerance, m.tolerance);
}

} // namespace

bool Comparison::passed() const { return failed == 0 && compared == element_count(shape); }

std::string Comparison::text() const {
  if (passed()) return "";
  if (failed == 0)
    return fmt::format("{} of {} elements were compared\n", compared, element_count(shape));
  std::string text = fmt::format("{} of {} elements are wrong", failed, compared);
  if (unwritten > 0) text += fmt::format(", {} of them never written", unwritten);
  text += fmt::format("\n  where  {}\n  worst  {}\n", pattern_hint(failures, shape),
                      show(*this, worst));
  for (const Mismatch& mismatch : first)
    text += fmt::format("  first  {}\n", show(*this, mismatch));
  if (!exact) text += fmt::format("  error  max {:.3g}, rms {:.3g} units\n", max_error, rms_error);
  return text;
}

Comparison compare(const Observed& actual, const Expectation& expected) {
  require_size("the result", actual.values.size(), expected.shape);
  require_size("the expectation", expected.value.size(), expected.shape);
  if (!actual.bits.empty()) require_size("the result's bits", actual.bits.size(), expected.shape);
  if (!expected.tolerance.empty())
    require_size("the tolerance", expected.tolerance.size(), expected.shape);
  if (!expected.unit.empty()) require_size("the unit", expected.unit.size(), expected.shape);
  require(actual.dtype == expected.dtype,
          fmt::format("compare: the result is {}, the expectation {}", name(actual.dtype),
                      name(expected.dtype)));

  Comparison result{expected.dtype, expected.shape, false, expected.tolerance.empty()};
  Failures failures(result);
  const std::uint64_t poison = poison_bits(expected.dtype);
  const bool has_poison = !is_integer(expected.dtype);
  double squares = 0;
  std::int64_t measured = 0;
  for (std::size_t i = 0; i < actual.values.size(); ++i) {
    const double tolerance = expected.tolerance_at(i);
    const double value = expected.value[i];
    if (!(tolerance >= 0) || std::isinf(tolerance))
      fail(fmt::format("compare: the tolerance of element {} is {}: give a finite number >= 0", i,
                       tolerance));
    Verdict verdict = judge(expected.dtype, actual.values[i], value, tolerance, expected.zero);
    const bool unwritten = has_poison && !actual.bits.empty() && actual.bits[i] == poison;
    if (unwritten) verdict = kWrongClass;
    ++result.compared;
    if (std::isfinite(value)) {
      const double error =
          in_units(verdict.error, expected.unit.empty() ? tolerance : expected.unit[i]);
      // Not fmax: it is a call that handles NaN, and errors are never NaN.
      result.max_error = std::max(result.max_error, error);
      if (!result.exact) result.share = std::max(result.share, in_units(verdict.error, tolerance));
      squares += error * error;
      ++measured;
    } else {
      ++result.special;
    }
    if (!verdict.accepted)
      failures.add({static_cast<std::int64_t>(i), actual.values[i], value, verdict.error, tolerance,
                    0, 0, unwritten});
  }
  if (measured > 0) result.rms_error = std::sqrt(squares / static_cast<double>(measured));
  return result;
}

Comparison compare_bits(const Observed& actual, std::vector<std::int64_t> shape,
                        std::span<const std::uint64_t> expected) {
  require_size("the result's bits", actual.bits.size(), shape);
  require_size("the expectation", expected.size(), shape);
  Comparison result{actual.dtype, std::move(shape), true, true};
  Failures failures(result);
  const std::uint64_t poison = poison_bits(actual.dtype);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ++result.compared;
    if (!std::isfinite(decode(actual.dtype, expected[i]))) ++result.special;
    if (actual.bits[i] == expected[i]) continue;
    failures.add({static_cast<std::int64_t>(i), decode(actual.dtype, actual.bits[i]),
                  decode(actual.dtype, expected[i]), kBeyondTolerance, 0, actual.bits[i],
                  expected[i], actual.bits[i] == poison});
  }
  return result;
}

} // namespace kg::test
