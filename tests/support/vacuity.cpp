// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/support/vacuity.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tests/oracle/numbers.h"
#include "tests/oracle/strided.h"

namespace kg::test {

namespace {

constexpr std::int64_t kTile = 16;

// A common view of both comparisons: the expected result, how a result is judged, and how an
// element is falsified.
template <typename Element>
struct Subject {
  std::vector<std::int64_t> shape;
  std::vector<Element> expected;
  std::function<Comparison(const std::vector<Element>&)> judge;
  std::function<Element(std::size_t)> moved;
  std::function<bool(Element, Element)> same;
};

// The first coordinates of tiles that cover a dimension; the last tile is shifted back to be full.
std::vector<std::int64_t> tile_starts(std::int64_t extent) {
  std::vector<std::int64_t> starts;
  for (std::int64_t start = 0; start < extent; start += kTile)
    starts.push_back(std::clamp<std::int64_t>(extent - kTile, 0, start));
  return starts;
}

// The row-major indices of each tile's elements.
std::vector<std::vector<std::size_t>> tiles(const std::vector<std::int64_t>& shape) {
  const std::int64_t columns = shape.empty() ? 1 : shape.back();
  const std::int64_t rows = shape.size() < 2 ? 1 : shape[shape.size() - 2];
  const std::int64_t matrices = element_count(shape) / std::max<std::int64_t>(rows * columns, 1);
  std::vector<std::vector<std::size_t>> all;
  for (std::int64_t matrix = 0; matrix < matrices; ++matrix) {
    for (const std::int64_t row : tile_starts(rows)) {
      for (const std::int64_t column : tile_starts(columns)) {
        std::vector<std::size_t>& tile = all.emplace_back();
        for (std::int64_t i = row; i < std::min(row + kTile, rows); ++i)
          for (std::int64_t j = column; j < std::min(column + kTile, columns); ++j)
            tile.push_back(static_cast<std::size_t>((matrix * rows + i) * columns + j));
      }
    }
  }
  return all;
}

template <typename Element>
class Examination {
 public:
  explicit Examination(const Subject<Element>& subject) : subject_(subject) {
    const Comparison zeroed =
        subject.judge(std::vector<Element>(subject.expected.size(), Element{}));
    accepts_zeros_ = zeroed.passed();
    visible_.assign(subject.expected.size(), false);
    for (const std::int64_t index : zeroed.failures)
      visible_[static_cast<std::size_t>(index)] = true;
    tiles_ = tiles(subject.shape);
  }

  // Checks that the claimed reason holds for this expectation.
  void verify(Degenerate claim) {
    const auto& e = subject_.expected;
    const bool holds = [&] {
      switch (claim) {
      case Degenerate::no: return true;
      case Degenerate::empty: return e.empty();
      case Degenerate::single_element: return e.size() == 1;
      case Degenerate::constant:
        return std::all_of(e.begin(), e.end(), [&](Element x) { return subject_.same(x, e[0]); });
      case Degenerate::zero:
        return std::all_of(e.begin(), e.end(), [&](Element x) { return x == Element{}; });
      case Degenerate::sparse: return hidden_tile() != nullptr;
      }
      return false;
    }();
    if (!holds)
      missed_.push_back(
          fmt::format("the case claims '{}', which its expectation is not", reason(claim)));
  }

  void accepts_itself() {
    const Comparison itself = subject_.judge(subject_.expected);
    if (!itself.passed()) missed_.push_back("the expectation itself is rejected: " + itself.text());
  }

  void rejects_zeros() {
    if (accepts_zeros_) missed_.push_back("zeros are accepted");
  }

  void rejects_constant() {
    if (subject_.judge({std::vector<Element>(subject_.expected.size(), subject_.expected[0])})
            .passed())
      missed_.push_back("one constant is accepted");
  }

  void rejects_permutation() {
    std::vector<Element> permuted(subject_.expected);
    std::rotate(permuted.begin(), permuted.begin() + 1, permuted.end());
    if (subject_.judge(permuted).passed()) missed_.push_back("permuted elements are accepted");
  }

  // Verdicts are per element, so a tile can be zeroed unnoticed exactly if none of its elements is
  // rejected in an all-zero output. The last tile, where tails are dropped, is also tested with the
  // comparator itself.
  void rejects_zeroed_tiles() {
    if (const std::vector<std::size_t>* tile = hidden_tile()) {
      const std::vector<std::int64_t> corner =
          coordinates(static_cast<std::int64_t>(tile->front()), subject_.shape);
      missed_.push_back(fmt::format("a zeroed tile at ({}) is accepted", fmt::join(corner, ", ")));
    }
    std::vector<Element> result(subject_.expected);
    for (const std::size_t index : tiles_.back()) result[index] = Element{};
    if (subject_.judge(result).passed()) missed_.push_back("a zeroed last tile is accepted");
  }

  void rejects_moved_elements() {
    std::vector<Element> all;
    for (std::size_t i = 0; i < subject_.expected.size(); ++i) all.push_back(subject_.moved(i));
    const Comparison every = subject_.judge(all);
    const auto count = static_cast<std::int64_t>(all.size());
    if (every.failed != count)
      missed_.push_back(
          fmt::format("{} of {} elements may move by 1.5 tolerances", count - every.failed, count));
    const std::size_t middle = all.size() / 2;
    std::vector<Element> one(subject_.expected);
    one[middle] = all[middle];
    const Comparison single = subject_.judge(one);
    if (single.passed() || single.failures != std::vector{static_cast<std::int64_t>(middle)})
      missed_.push_back(fmt::format("element {} alone may move by 1.5 tolerances", middle));
  }

  void report(std::string text) { missed_.push_back(std::move(text)); }

  testing::AssertionResult result() const {
    if (missed_.empty()) return testing::AssertionSuccess();
    return testing::AssertionFailure()
           << "this comparison proves too little: " << fmt::format("{}", fmt::join(missed_, "; "));
  }

 private:
  // A tile that could be zeroed unnoticed; null if there is none.
  const std::vector<std::size_t>* hidden_tile() const {
    const auto hidden = std::find_if(tiles_.begin(), tiles_.end(), [&](const auto& tile) {
      return std::none_of(tile.begin(), tile.end(), [&](std::size_t i) { return visible_[i]; });
    });
    return hidden == tiles_.end() ? nullptr : &*hidden;
  }

  const Subject<Element>& subject_;
  bool accepts_zeros_ = false;
  std::vector<bool> visible_; // elements whose zeroing is rejected
  std::vector<std::vector<std::size_t>> tiles_;
  std::vector<std::string> missed_;
};

template <typename Element>
void examine(Examination<Element>& examination, Degenerate degenerate) {
  examination.verify(degenerate);
  examination.accepts_itself();
  if (degenerate == Degenerate::empty) return;
  const bool zero = degenerate == Degenerate::zero;
  if (!zero) examination.rejects_zeros();
  if (degenerate == Degenerate::no || degenerate == Degenerate::sparse) {
    examination.rejects_constant();
    examination.rejects_permutation();
  }
  if (!zero && degenerate != Degenerate::sparse) examination.rejects_zeroed_tiles();
  examination.rejects_moved_elements();
}

// Whether at least half of the tolerances are below half the median finite magnitude.
bool tolerance_is_small(const Expectation& expected) {
  std::vector<double> sizes;
  std::vector<double> tolerances;
  for (std::size_t i = 0; i < expected.value.size(); ++i) {
    if (!std::isfinite(expected.value[i])) continue;
    sizes.push_back(std::fabs(expected.value[i]));
    tolerances.push_back(expected.tolerance_at(i));
  }
  if (sizes.empty()) return true;
  const auto median = [](std::vector<double>& v) {
    const auto middle = v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2);
    std::nth_element(v.begin(), middle, v.end());
    return *middle;
  };
  const double tolerance = median(tolerances);
  return tolerance == 0 || tolerance < 0.5 * median(sizes);
}

double moved_value(const Expectation& expected, std::size_t i) {
  const double value = expected.value[i];
  const double tolerance = expected.tolerance_at(i);
  if (!std::isfinite(value)) return 1;
  if (tolerance == 0) return next_away(expected.dtype, round_to(expected.dtype, value));
  return value + std::copysign(1.5 * tolerance, value);
}

} // namespace

std::string_view reason(Degenerate degenerate) {
  switch (degenerate) {
  case Degenerate::no: return "not degenerate";
  case Degenerate::empty: return "no elements";
  case Degenerate::single_element: return "a single element";
  case Degenerate::constant: return "all elements equal";
  case Degenerate::zero: return "all elements zero";
  case Degenerate::sparse: return "tiles of zeros";
  }
  return "";
}

testing::AssertionResult not_vacuous(const Expectation& expected, Degenerate degenerate) {
  const Subject<double> subject{
      expected.shape,
      {expected.value.begin(), expected.value.end()},
      [&](const std::vector<double>& values) {
        return compare({expected.dtype, values, {}}, expected);
      },
      [&](std::size_t i) { return moved_value(expected, i); },
      [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); }};
  Examination<double> examination(subject);
  examine(examination, degenerate);
  if (degenerate != Degenerate::zero && degenerate != Degenerate::sparse &&
      !tolerance_is_small(expected))
    examination.report("most tolerances exceed half the median magnitude");
  return examination.result();
}

testing::AssertionResult not_vacuous_bits(Dtype dtype, const std::vector<std::int64_t>& shape,
                                          std::span<const std::uint64_t> expected,
                                          Degenerate degenerate) {
  const Subject<std::uint64_t> subject{shape,
                                       {expected.begin(), expected.end()},
                                       [&](const std::vector<std::uint64_t>& bits) {
                                         return compare_bits({dtype, {}, bits}, shape, expected);
                                       },
                                       [&](std::size_t i) { return expected[i] ^ 1; },
                                       [](std::uint64_t x, std::uint64_t y) { return x == y; }};
  Examination<std::uint64_t> examination(subject);
  examine(examination, degenerate);
  return examination.result();
}

} // namespace kg::test
