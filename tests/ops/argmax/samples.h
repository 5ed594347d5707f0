// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Test data for argmax.
#pragma once

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "runtime/device.h"
#include "tests/ops/reduction/shapes.h"
#include "tests/oracle/fills.h"
#include "tests/oracle/numbers.h"

namespace kg::card::argmax_samples {

inline std::vector<std::string> shapes_of(const std::vector<Extents>& some) {
  std::vector<std::string> shapes;
  for (const Extents& extents : some) shapes.push_back(shape_of(extents));
  return shapes;
}

inline std::vector<double> normals(Dtype dtype, const Extents& extents) {
  return test::normal(dtype, count_of(extents), test::Tensor::a).values;
}
inline void add(std::vector<Sample>& samples, Dtype dtype, std::string fill, const Extents& extents,
                std::vector<double> x) {
  samples.push_back({std::move(fill), shape_of(extents), {{"x", values(dtype, std::move(x))}}});
  samples.back().may_be_vacuous = true; // all indices may be equal
}

inline const std::vector<Extents> kSmall = {{3, 300, 1}, {1, 2600, 1}, {2, 90, 16}};

// Few distinct values, so that every result has ties across threads, warps and thread blocks; the
// largest element at each position where a thread, a chunk or a tail begins or ends; and subnormal
// numbers, which must differ from zeros and from each other.
inline std::vector<Sample> exact_samples(Dtype dtype) {
  std::vector<Sample> samples;
  const auto integers = [&](const Extents& extents, std::int64_t most) {
    return test::integers(dtype, count_of(extents), most, test::Tensor::a).values;
  };
  for (const Extents& extents : large()) {
    add(samples, dtype, "ties", extents, integers(extents, 1));
    add(samples, dtype, "constant", extents,
        std::vector<double>(static_cast<std::size_t>(count_of(extents)), -2.5));
  }
  for (const Extents& extents : {Extents{1, 2500, 1}, Extents{1, 70, 1}, Extents{1, 150, 8}}) {
    const std::int64_t axis = extents[1];
    for (const std::int64_t place : {std::int64_t{0}, std::int64_t{1}, std::int64_t{7},
                                     std::int64_t{63}, axis / 2, axis - 2, axis - 1}) {
      std::vector<double> x(static_cast<std::size_t>(count_of(extents)), -1.0);
      for (std::int64_t i = 0; i < extents[2]; ++i)
        x[static_cast<std::size_t>(place * extents[2] + i)] = -0.5;
      add(samples, dtype, "one", extents, std::move(x));
    }
  }
  const double least = test::min_subnormal(dtype);
  for (const Extents& extents : kSmall) {
    std::vector<double> x = integers(extents, 100);
    for (double& value : x) value *= least;
    add(samples, dtype, "subnormal", extents, x);
    for (double& value : x) value = value > 99 * least ? least : 0;
    add(samples, dtype, "subnormal and zero", extents, x);
    for (double& value : x) value = value > 0 ? 0 : -least;
    add(samples, dtype, "negative and zero", extents, x);
  }
  return samples;
}

inline std::vector<Sample> random_samples(Dtype dtype) {
  std::vector<Sample> samples;
  for (const Extents& extents : large())
    samples.push_back(
        {"normal", shape_of(extents), {{"x", values(dtype, normals(dtype, extents))}}});
  return samples;
}

// The first NaN is the largest, whichever of two has the larger payload or sign bit.
inline void add_pairs_of_nan(std::vector<Sample>& samples, Dtype dtype) {
  const Extents extents{1, 2600, 1};
  std::vector<std::uint64_t> x, nans = {test::poison_bits(dtype)};
  for (const double value : normals(dtype, extents)) x.push_back(test::encode(dtype, value));
  for (const test::SpecialValue& special : test::special_values(dtype))
    if (std::isnan(test::decode(dtype, special.bits))) nans.push_back(special.bits);
  for (const std::uint64_t first : nans)
    for (const std::uint64_t second : nans) {
      x[1300] = first;
      x[2000] = second;
      samples.push_back({"two NaNs", shape_of(extents), {{"x", bits(dtype, x)}}});
      samples.back().may_be_vacuous = true;
    }
}

// A NaN is larger than every number, and the first NaN wins. Zeros of both signs are equal, also if
// every thread block has its own row, long enough for the loop over several packs.
inline std::vector<Sample> special_samples(Dtype dtype) {
  std::vector<Sample> samples;
  for (const Extents& extents : kSmall) {
    const auto count = static_cast<std::size_t>(count_of(extents));
    for (const double special : {std::numeric_limits<double>::quiet_NaN(), kInfinity, -kInfinity}) {
      std::vector<double> x = normals(dtype, extents);
      x[count - 1] = special;
      add(samples, dtype, "special", extents, x);
      x[count / 2] = special;
      x[count / 3] = kInfinity;
      add(samples, dtype, "special", extents, x);
      add(samples, dtype, "special everywhere", extents, std::vector<double>(count, special));
    }
    std::vector<double> zeros(count, -0.0);
    for (std::size_t i = count / 2; i < count; ++i) zeros[i] = 0.0;
    add(samples, dtype, "zeros", extents, std::move(zeros));
  }
  const Extents rows{device_properties().sm_count * 8 + 1, 4999, 1};
  std::vector<double> x = test::integers(dtype, count_of(rows), 100, test::Tensor::a).values;
  for (double& value : x) value = value > 99 ? 1 : value < 0 ? -0.0 : 0.0;
  add(samples, dtype, "zeros and ones in long rows", rows, x);
  for (double& value : x) value = value == 0 ? value : -1;
  add(samples, dtype, "zeros and less in long rows", rows, std::move(x));
  add_pairs_of_nan(samples, dtype);
  return samples;
}

// Around packs, warps and thread blocks; more rows than thread blocks; and a block that repeats its
// loop.
inline std::vector<std::string> sizes(Dtype) {
  std::vector<Extents> some;
  for (const std::int64_t n : {1, 2, 3, 5, 31, 33, 127, 129, 256, 513, 2049})
    some.insert(some.end(), {{n, 7, 1}, {2, 5, n}, {3, n, 1}, {1, n, 3}, {1, n, 8}});
  const std::int64_t resident = std::int64_t{device_properties().sm_count} * 8;
  some.insert(some.end(), {{resident + 1, 2051, 1}, {1, resident * 2048 + 5, 1}});
  return shapes_of(some);
}

} // namespace kg::card::argmax_samples
