// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Names of scans in shapes, sum_inclusive_n5 and max_exclusive_segments_n5, and their test data.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "ops/scan/scan.h"
#include "tests/contract/card.h"
#include "tests/contract/samples.h"
#include "tests/contract/shape_grammar.h"
#include "tests/oracle/fills.h"
#include "tests/oracle/numbers.h"

namespace kg::card::scan_samples {

struct Form {
  scan::Op op;
  scan::Kind kind;
  bool heads;
  std::int64_t n, offsets; // 0: none
};
inline ShapeGrammar<Form> grammar() {
  using scan::Kind;
  return ShapeGrammar<Form>()
      .enumerator(&Form::op, scan::kOps)
      .one_of(&Form::kind, {{"inclusive", Kind::inclusive}, {"exclusive", Kind::exclusive}})
      .flag("segments", &Form::heads)
      .number("n", &Form::n)
      .number("offsets", &Form::offsets, 0);
}

inline std::string shape_of(scan::Op op, scan::Kind kind, bool segmented, std::int64_t n) {
  return grammar().print({op, kind, segmented, n, 0});
}

// All operations and kinds, with and without segments.
inline std::vector<std::string> each_form(const std::vector<std::int64_t>& lengths) {
  std::vector<std::string> shapes;
  for (const std::int64_t n : lengths)
    for (const scan::Op op : scan::kOps)
      for (const scan::Kind kind : {scan::Kind::inclusive, scan::Kind::exclusive})
        for (const bool segmented : {false, true})
          shapes.push_back(shape_of(op, kind, segmented, n));
  return shapes;
}

// Segments of about fifty elements, and one of a few tiles in every 20,000.
inline bool begins_segment(std::int64_t i) {
  return i / 10000 % 2 == 0 && test::random_of(test::seed(), test::Tensor::c)
                                       .integer(static_cast<std::uint64_t>(i), 0, 49) == 0;
}

// Numbers that rise over the whole array, so that the maximum keeps changing: integers that every
// type represents.
inline std::vector<double> rising(Dtype dtype, std::int64_t n) {
  const std::int64_t top = dtype == Dtype::bf16 ? 200 : 2000;
  std::vector<double> x = test::integers(dtype, n, top / 20, test::Tensor::a).values;
  for (std::int64_t i = 0; i < n; ++i)
    x[static_cast<std::size_t>(i)] +=
        std::floor(static_cast<double>(i) / static_cast<double>(n) * static_cast<double>(top)) -
        static_cast<double>(top / 2);
  return x;
}

inline std::vector<double> every(std::int64_t n, std::int64_t period) {
  std::vector<double> heads(static_cast<std::size_t>(n), 0.0);
  for (std::int64_t i = period - 1; i < n; i += period) heads[static_cast<std::size_t>(i)] = 1;
  return heads;
}

inline constexpr std::int64_t kSome = 10007; // more than two tiles

// Sums that are exact in every order: i32, or integers whose magnitudes have a representable sum.
// Segment heads at each position of a pack and a warp's row, nowhere, and everywhere.
inline std::vector<Sample> exact_samples(Dtype dtype) {
  std::vector<Sample> samples;
  const auto add = [&](scan::Op op, std::string fill, const std::vector<double>& x,
                       std::int64_t period) {
    for (const scan::Kind kind : {scan::Kind::inclusive, scan::Kind::exclusive}) {
      Sample sample{fill, shape_of(op, kind, period > 0, std::ssize(x)), {{"x", values(dtype, x)}}};
      if (period > 0) sample.inputs["heads"] = values(Dtype::i8, every(std::ssize(x), period));
      sample.may_be_vacuous = op == scan::Op::max || (period > 0 && period < 4);
      samples.push_back(std::move(sample));
    }
  };
  std::vector<std::vector<double>> sums;
  if (dtype == Dtype::i32)
    sums.push_back(test::random_numbers(dtype, kSome, test::Tensor::a).values);
  else
    for (const test::SumRange range : {test::SumRange::wide, test::SumRange::dense}) {
      sums.push_back(test::exact_sums(dtype, dtype, range, 1, kSome).values);
      sums.back()[0] = 1; // with heads far apart, no long run of sums is 0
    }
  const std::vector<double> rises = rising(dtype, kSome);
  for (const std::vector<double>& x : sums) add(scan::Op::sum, "integers", x, 0);
  add(scan::Op::max, "rising", rises, 0);
  for (const std::int64_t period :
       {std::int64_t{1}, std::int64_t{3}, std::int64_t{129}, kSome / 2, 2 * kSome}) {
    add(scan::Op::sum, "segments of " + std::to_string(period), sums.back(), period);
    add(scan::Op::max, "segments of " + std::to_string(period), rises, period);
  }
  for (const scan::Kind kind : {scan::Kind::inclusive, scan::Kind::exclusive}) {
    const std::string shape = shape_of(scan::Op::sum, kind, false, kSome) + "_offsets400";
    samples.push_back({"offsets", shape, {{"x", values(dtype, sums.back())}}});
  }
  return samples;
}

// Each special number alone and after each other one, in separate segments and in one; for sums
// only those without overflow, which depends on the order.
inline std::vector<Sample> special_samples(Dtype dtype) {
  std::vector<Sample> samples;
  if (is_integer(dtype)) {
    std::vector<double> x(3000, std::numeric_limits<std::int32_t>::min());
    x[1500] = std::numeric_limits<std::int32_t>::max();
    for (const scan::Op op : scan::kOps)
      for (const scan::Kind kind : {scan::Kind::inclusive, scan::Kind::exclusive}) {
        samples.push_back(
            {"ends of the range", shape_of(op, kind, false, 3000), {{"x", values(dtype, x)}}});
        samples.back().may_be_vacuous = true;
      }
    return samples;
  }
  for (const scan::Op op : scan::kOps) {
    std::vector<std::uint64_t> special;
    for (const test::SpecialValue& each : test::special_values(dtype)) {
      const double value = std::fabs(test::decode(dtype, each.bits));
      if (op == scan::Op::max || !(value > 1) || std::isinf(value)) special.push_back(each.bits);
    }
    const std::uint64_t zero = test::encode(dtype, 0), minus = test::encode(dtype, -0.0);
    std::vector<std::uint64_t> x;
    std::vector<double> heads;
    for (const std::uint64_t a : special)
      for (const std::uint64_t b : special)
        for (const std::uint64_t each : {minus, a, minus, b, zero}) {
          heads.push_back(x.size() % 5 == 0 ? 1 : 0);
          x.push_back(each);
        }
    const auto add = [&](bool segmented, const std::vector<std::uint64_t>& numbers) {
      for (const scan::Kind kind : {scan::Kind::inclusive, scan::Kind::exclusive}) {
        Sample sample{"special",
                      shape_of(op, kind, segmented, std::ssize(numbers)),
                      {{"x", bits(dtype, numbers)}}};
        if (segmented) sample.inputs["heads"] = values(Dtype::i8, heads);
        sample.may_be_vacuous = true;
        samples.push_back(std::move(sample));
      }
    };
    add(true, x);
    for (const std::uint64_t each : special) {
      std::vector<std::uint64_t> one(2100, minus);
      one[1027] = each;
      one[2000] = zero;
      add(false, one);
    }
  }
  return samples;
}

} // namespace kg::card::scan_samples
