// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Test data for reduction.
#pragma once

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "runtime/device.h"
#include "tests/ops/reduction/reductions.h"
#include "tests/oracle/fills.h"
#include "tests/oracle/numbers.h"
#include "tests/oracle/oracle_rows.h"

namespace kg::card::reduction_samples {

// The operations that the type supports.
inline std::vector<Op> ops_of(Dtype dtype) {
  if (dtype == Dtype::i32) return {Op::sum};
  return {Op::sum, Op::mean, Op::max, Op::min};
}

inline Sample sample(Dtype dtype, std::string fill, Op op, const Extents& extents,
                     std::vector<double> x) {
  Sample result{std::move(fill), shape_of(op, extents), {{"x", values(dtype, std::move(x))}}};
  // Few extrema may all be equal, and a sum of one term is exact.
  result.may_be_vacuous = !is_sum(op) || extents[1] < 2;
  return result;
}

inline std::vector<double> numbers(Dtype dtype, const Extents& extents) {
  return test::random_numbers(dtype, count_of(extents), test::Tensor::a).values;
}

// Integers whose sums are exact in f32 in every order.
inline std::vector<double> exact_terms(Dtype dtype, test::SumRange range, const Extents& extents) {
  return tensor_of(test::exact_sums(dtype, dtype, range, results_of(extents), extents[1]).values,
                   extents);
}
inline void add_exact_sums(std::vector<Sample>& samples, Dtype dtype,
                           const std::vector<Extents>& some) {
  for (const test::SumRange range : {test::SumRange::wide, test::SumRange::dense})
    for (const Extents& extents : some)
      samples.push_back(sample(dtype, range == test::SumRange::wide ? "wide sums" : "dense sums",
                               Op::sum, extents, exact_terms(dtype, range, extents)));
}

// Sums of integers, divided in f32 and then rounded to the type: by powers of two, and by lengths
// without an exact reciprocal, since a mean is a quotient.
inline void add_exact_means(std::vector<Sample>& samples, Dtype dtype) {
  for (const Extents& extents :
       {Extents{40, 1024, 1}, Extents{3, 4096, 1}, Extents{1, 8192, 1}, Extents{1, 256, 72},
        Extents{3, 64, 17}, Extents{1, 8, 8192}, Extents{40, 1000, 1}, Extents{30, 4099, 1},
        Extents{1, 9001, 1}, Extents{1, 77, 72}, Extents{3, 41, 17}, Extents{1, 9, 8192}}) {
    const auto x = exact_terms(dtype, test::SumRange::wide, extents);
    std::vector<double> means =
        test::row_sums_oracle(slices_of(x, extents), results_of(extents), extents[1]).value;
    for (double& mean : means) {
      mean = test::round_to(Dtype::f32, mean / static_cast<double>(extents[1]));
      mean = test::round_to(dtype, mean);
    }
    samples.push_back(sample(dtype, "wide sums", Op::mean, extents, x));
    samples.back().expected = {{"out", std::move(means)}};
  }
}

// Subnormal numbers are preserved: by extrema, in exact sums, and in means of equal numbers.
inline void add_subnormals(std::vector<Sample>& samples, Dtype dtype) {
  const double least = test::min_subnormal(dtype);
  const auto normals = static_cast<std::int64_t>(0.5 / unit_roundoff(dtype)); // times least
  for (const Extents& extents : {Extents{40, 7, 1}, Extents{1, 5, 72}, Extents{3, 6, 11}})
    for (const Op op : {Op::max, Op::min, Op::sum}) {
      const std::int64_t largest = op == Op::sum ? normals / 8 : normals - 1; // a sum of 7 is exact
      auto x = test::integers(dtype, count_of(extents), largest, test::Tensor::a).values;
      for (double& value : x) value *= least;
      samples.push_back(sample(dtype, "subnormal", op, extents, std::move(x)));
    }
  for (const Extents& extents : {Extents{40, 64, 1}, Extents{3, 4096, 1}, Extents{1, 256, 72}})
    for (const Op op : {Op::max, Op::min, Op::mean}) {
      const std::vector<double> x(static_cast<std::size_t>(count_of(extents)), 3 * least);
      samples.push_back(sample(dtype, "one subnormal", op, extents, x));
      samples.back().expected = {
          {"out", std::vector<double>(static_cast<std::size_t>(results_of(extents)), 3 * least)}};
      samples.back().may_be_vacuous = true;
    }
}

// i32: sums modulo 2^32, which wrap around.
inline std::vector<Sample> exact_samples(Dtype dtype) {
  std::vector<Sample> samples;
  std::vector<Extents> some = large();
  if (dtype == Dtype::i32) {
    some.insert(some.end(), {{5, 7, 1}, {1, 7, 33}, {2, 4100, 1}});
    for (const Extents& extents : some)
      samples.push_back(
          sample(dtype, "integers", Op::sum, extents,
                 test::integers(dtype, count_of(extents), std::numeric_limits<std::int32_t>::max(),
                                test::Tensor::a)
                     .values));
    return samples;
  }
  for (const auto& [rows, cols] : {std::pair{37, 100}, std::pair{500, 40}})
    for (const Extents& extents : axes_of(rows, cols)) some.push_back(extents);
  add_exact_sums(samples, dtype, some);
  add_exact_means(samples, dtype);
  add_subnormals(samples, dtype);
  return samples;
}

// All of one sign: extrema for which an accumulator starting at 0 would win, and sums whose partial
// sums grow and where no cancellation hides an error.
inline std::vector<Sample> random_samples(Dtype dtype) {
  std::vector<Sample> samples;
  for (const Extents& extents : large())
    for (const Op op : ops_of(dtype))
      samples.push_back(sample(dtype, "normal", op, extents, numbers(dtype, extents)));
  if (dtype == Dtype::i32) return samples;
  for (const Extents& extents : large()) {
    std::vector<double> x = numbers(dtype, extents);
    for (double& value : x) value = std::fabs(value);
    samples.push_back(sample(dtype, "positive normal", Op::min, extents, x));
    for (double& value : x) value = -value;
    samples.push_back(sample(dtype, "negative normal", Op::max, extents, x));
    if (static_cast<double>(extents[1]) < test::max_finite(dtype))
      samples.push_back(sample(dtype, "positive", Op::sum, extents,
                               test::positive(dtype, count_of(extents), test::Tensor::a).values));
  }
  return samples;
}

// One NaN, infinities of one sign and of both, at all positions including the first and the last;
// all elements equal to the operation's identity, or beyond f32's initial value; and zeros, whose
// sum starts from +0.
inline std::vector<Sample> special_samples(Dtype dtype) {
  std::vector<Sample> samples;
  if (dtype == Dtype::i32) return samples;
  const auto add = [&](const char* fill, Op op, const Extents& extents, std::vector<double> x) {
    samples.push_back(sample(dtype, fill, op, extents, std::move(x)));
    samples.back().may_be_vacuous = true;
  };
  for (const Extents& extents : {Extents{3, 300, 1}, Extents{1, 9, 72}, Extents{1, 2600, 1},
                                 Extents{2, 2100, 1}, Extents{3, 40, 11}}) {
    const std::int64_t count = count_of(extents);
    for (const std::int64_t place : {std::int64_t{0}, count / 2, count - 1})
      for (const double special : {kNan, kInfinity, -kInfinity})
        for (const bool both : {false, true}) {
          std::vector<double> x = numbers(dtype, extents);
          x[static_cast<std::size_t>(place)] = special;
          if (both) x[static_cast<std::size_t>((place + extents[2]) % count)] = -special;
          add("special", Op::sum, extents, x);
          add("special", both ? Op::min : Op::max, extents, x);
        }
  }
  for (const Extents& extents : {Extents{3, 40, 1}, Extents{2, 4100, 1}, Extents{2, 40, 24}})
    for (const double value : {kInfinity, -kInfinity, kNan, -test::max_finite(dtype)})
      for (const Op op : {Op::max, Op::min})
        add("constant", op, extents,
            std::vector<double>(static_cast<std::size_t>(count_of(extents)), value));
  for (const Extents& extents : axes_of(3, 700))
    for (const Op op : {Op::sum, Op::mean}) {
      add("negative zeros", op, extents, std::vector<double>(2100, -0.0));
      samples.back().expected = {
          {"out", std::vector<double>(static_cast<std::size_t>(results_of(extents)), 0.0)}};
    }
  return samples;
}

inline std::vector<std::string> usual(Dtype dtype) {
  std::vector<std::string> shapes;
  for (const Op op : ops_of(dtype))
    for (const Extents& extents : {Extents{33, 200, 1}, Extents{1, 9000, 1}, Extents{1, 33, 200},
                                   Extents{5, 70, 24}, Extents{3, 130, 7}})
      shapes.push_back(shape_of(op, extents));
  return shapes;
}

// Rows with short and long sums, and columns.
inline std::vector<std::string> batches(Dtype dtype) {
  std::vector<std::string> batches;
  for (const char* const extents :
       {"o*_a200_i1", "o*_a201_i1", "o*_a9000_i1", "o*_a70_i24", "o2_a130_i*", "o1_a4000_i8*"})
    batches.push_back(std::string("tensor_") + extents);
  if (!is_integer(dtype))
    batches.insert(batches.end(), {"mean_tensor_o*_a200_i1", "max_tensor_o*_a70_i7"});
  return batches;
}

// Around a 16-byte load, a warp, a block, a tile, and the size at which rows go from warps to
// blocks; and more than one grid takes.
inline std::vector<std::string> sizes(Dtype dtype) {
  std::vector<std::string> shapes;
  for (const std::int64_t n : {1, 2, 3, 5, 31, 33, 127, 129, 256, 511, 513, 1025, 2049}) {
    for (const Extents& extents : {Extents{n, 7, 1}, Extents{7, n, 1}, Extents{1, n, 7},
                                   Extents{1, n, 1}, Extents{1, n, 8}, Extents{2, 5, n}})
      shapes.push_back(shape_of(Op::sum, extents));
    if (dtype != Dtype::i32)
      for (const Extents& extents : {Extents{3, n, 1}, Extents{1, n, 3}, Extents{n, 2, 3}})
        shapes.push_back(shape_of(Op::max, extents));
  }
  return shapes;
}

inline std::vector<Extents> beyond_one_grid() {
  const std::int64_t resident = std::int64_t{device_properties().sm_count} * 8;
  return {{resident * 8 + 1, 67, 1},
          {resident + 1, 2051, 1}, // a block per row, and more rows than blocks
          {2, resident * 512 + 77, 1},
          {1, resident * 2048 + 5, 1}, // a block that repeats its loop
          {1, 40, resident * 64 + 72}};
}

} // namespace kg::card::reduction_samples
