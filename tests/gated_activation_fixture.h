// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The rows of gates and values on which gated_activation_test.cu and its backward pass are tested.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/buffer.h"
#include "runtime/launch.h"
#include "tests/ops/activation_functions.h"
#include "tests/oracle/compare.h"
#include "tests/oracle/fills.h"
#include "tests/oracle/oracle_gated_activation.h"
#include "tests/oracle/strided.h"
#include "tests/support/case.h"
#include "tests/support/device_types.h"
#include "tests/support/hygiene.h"
#include "tests/support/metamorphic.h"
#include "tests/support/vacuity.h"

#include "gated_activation/gated_activation.h"

namespace kg::test {

using gated_activation::Form;
using gated_activation::function_of;
using gated_activation::kForms;

template <typename T>
struct Rows {
  Halves<T> halves;
  std::int64_t cols;

  std::int64_t size() const { return static_cast<std::int64_t>(halves.gate.size()); }
  std::int64_t rows() const { return cols == 0 ? 0 : size() / cols; }
};

template <typename T>
std::string parameters(Form form, const Rows<T>& in) {
  return std::string(name(form)) + "_rows" + std::to_string(in.rows()) + "_cols" +
         std::to_string(in.cols);
}

template <typename T>
Halves<double> observed(const Halves<T>& halves) {
  return {observe(halves.gate).values, observe(halves.value).values};
}

// reglu's results are known to the last bit: rounded to f32, which the oracle did, and to T.
inline std::vector<double> stored_exactly(Form form, Dtype dtype, std::vector<double> value) {
  if (form == Form::reglu)
    for (double& element : value) element = round_to(dtype, element);
  return value;
}

template <typename T>
Rows<T> normal_rows(std::int64_t rows, std::int64_t cols) {
  constexpr Dtype kDtype = DtypeOf<T>::value;
  return {{elements<T>(normal(kDtype, rows * cols, Tensor::a).values),
           elements<T>(normal(kDtype, rows * cols, Tensor::b).values)},
          cols};
}

// Gates of full significands beyond 128 or below -128: the activation is the gate itself, or a
// zero, and its slope 1 or 0. Values are powers of two.
template <typename T>
Rows<T> limit_rows(std::int64_t rows, std::int64_t cols) {
  constexpr Dtype kDtype = DtypeOf<T>::value;
  const std::int64_t largest = (std::int64_t{1} << float_format(kDtype).precision) - 1;
  const Random random(seed(), 23);
  std::vector<double> gate, value;
  for (std::int64_t i = 0; i < rows * cols; ++i) {
    const auto index = static_cast<std::uint64_t>(i);
    const auto size = static_cast<double>(random.integer(index, 128, largest));
    gate.push_back(i % 3 == 0 ? -size : size);
    value.push_back(std::ldexp(random.sign(index), static_cast<int>(i % 5) - 2));
  }
  return {{elements<T>(gate), elements<T>(value)}, cols};
}

// Each special value as a gate of each, one row per gate.
template <typename T>
Rows<T> special_rows() {
  constexpr Dtype kDtype = DtypeOf<T>::value;
  const BitPairs pairs = special_pairs(kDtype);
  return {{elements_of_bits<T>(pairs.a), elements_of_bits<T>(pairs.b)},
          static_cast<std::int64_t>(special_values(kDtype).size())};
}

// Gates of every pattern of a 16-bit type, or as many of f32.
template <typename T>
Rows<T> pattern_rows() {
  constexpr Dtype kDtype = DtypeOf<T>::value;
  constexpr std::int64_t kCount = 1 << 16;
  const auto bits = sizeof(T) == 2 ? all_bits(kDtype) : unique_bits(kDtype, kCount);
  return {{elements_of_bits<T>(bits), elements<T>(normal(kDtype, kCount, Tensor::b).values)}, 64};
}

} // namespace kg::test
