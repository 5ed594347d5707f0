// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Properties of rmsnorm and layernorm beyond the contract.
#pragma once

#include <cmath>

#include "ops/normalization/variants.h"
#include "tests/contract/own_test.h"
#include "tests/contract/row_tests.h"
#include "tests/contract/rows.h"
#include "tests/support/device_types.h"
#include "tests/support/huge.h"

namespace kg::card::norm {

inline void check_rows(Judge& judge) {
  check_many_rows(judge);
  check_rows_take_turns(judge);
  for (const auto& [rows, cols] : {std::pair{9, 300}, std::pair{5, 1300}})
    check_rows_are_independent(judge, rows_cols(rows, cols));
}

inline void check_automatic() {
  using normalization::Variant;
  for (const auto& [cols, right] : {std::pair{normalization::kWarpMaxCols, Variant::warp},
                                    std::pair{normalization::kWarpMaxCols + 1, Variant::block}}) {
    EXPECT_EQ(normalization::resolved(Variant::automatic, cols), right);
    EXPECT_EQ(normalization::chain(Variant::automatic, cols), normalization::chain(right, cols));
  }
}

// More than 2^31 elements, in rows of so many columns.
inline Problem huge_problem(Judge& judge, std::int64_t cols = 1024) {
  const Sample sample{.fill = "huge",
                      .shape = rows_cols((std::int64_t{1} << 31) / cols + 3, cols),
                      .scalars = {{"epsilon", 12}}};
  Problem problem = problem_of(judge.card(), judge.dtype(), sample);
  for (const auto* group : {&problem.inputs, &problem.outputs})
    for (const Tensor& tensor : std::vector<Tensor>(*group))
      if (tensor.optional) problem = problem.without(tensor.name);
  return problem;
}

// `value`, by the element's index, in the first row, the last, and the third from last.
template <class T, class Value>
test::Marks<T> marks(const Problem& problem, Value value) {
  test::Marks<T> result;
  const std::int64_t rows = rows_of(problem), cols = cols_of(problem);
  for (const std::int64_t row : {std::int64_t{0}, rows - 3, rows - 1})
    for (std::int64_t i = row * cols; i < (row + 1) * cols; ++i)
      result[i] = test::elements<T>(std::vector<double>{i % 2 ? -value : value})[0];
  return result;
}

// In place. All rows have one value, except three of +2 and -2, which epsilon 12 normalizes to one
// half. The mean of an equal row is exact only if its sum is exact in f32: 0x40404040 has 18 bits,
// and the sum of 64 of them 24.
inline void check_more_than_2_to_31(Judge& judge, bool centred) {
  dispatch(judge.dtype(), [&]<class T>() {
    const Problem problem = huge_problem(judge, centred ? 64 : 1024);
    const auto size = static_cast<std::size_t>(problem.outputs[0].size());
    KG_HUGE(size * sizeof(T));
    const unsigned char byte = centred ? 0x40 : 0x3C; // a normal number of each type
    const double filled = test::to_double(
        test::from_raw_bits<T>(0x01010101U * byte & test::poison_bits(judge.dtype())));
    const double right = centred ? 0 : filled / std::sqrt(filled * filled + 12);
    const T everywhere =
        test::elements<T>(std::vector<double>{test::round_to(judge.dtype(), right)})[0];
    for (const Variant& variant : judge.card().variants) {
      if (!variant.supports(problem)) continue;
      const DeviceBuffer<T> x(size);
      fill_bytes(x.data(), byte, x.bytes(), judge.stream());
      test::put(marks<T>(problem, 2.0), x, judge.stream());
      Call call(problem);
      call.bind("x", x.data());
      call.bind("y", x.data());
      variant.run(call, judge.stream());
      EXPECT_TRUE(test::holds(x, everywhere, marks<T>(problem, 0.5), judge.stream()))
          << variant.name;
      EXPECT_NO_THROW(x.check_guards());
    }
  });
}

} // namespace kg::card::norm
