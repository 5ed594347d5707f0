// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/contract/row_tests.h"

#include <limits>
#include <set>

#include "runtime/device.h"
#include "tests/contract/rows.h"
#include "tests/support/metamorphic.h"

namespace kg::card {

void check_many_rows(Judge& judge) {
  const std::string shape = rows_cols(device_properties().max_grid_yz + 4, 3);
  judge.check({"normal", shape}, {}, {"naive", "warp"});
}

void check_rows_take_turns(Judge& judge, std::string_view form) {
  constexpr std::int64_t kMostBlocks = 16; // of one warp each, resident on a multiprocessor
  const std::int64_t rows = 3 * kMostBlocks * device_properties().sm_count + 8;
  judge.check({"normal", rows_cols(rows, 8, form)}, {}, {"block"});
}

void check_rows_are_independent(Judge& judge, const std::string& shape) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  Sample sample{"normal", shape};
  const Problem problem = problem_of(judge.card(), judge.dtype(), sample);
  const Inputs inputs = completed(problem, {});
  const std::int64_t rows = rows_of(problem);
  const std::vector<std::int64_t> order = test::permutation(rows);
  Sample permuted{"permuted", shape, inputs};
  for (const Tensor& input : problem.inputs) {
    if (!input.by_row) continue;
    test::Observed& moved = permuted.inputs.at(input.name);
    moved.values = test::permuted_rows(moved.values, order);
    if (!moved.bits.empty()) moved.bits = test::permuted_rows(moved.bits, order);
  }
  judge.each_variant(sample, [&](const Variant& variant) {
    const Outcome right = judge.run(variant, problem, inputs);
    const Outcome moved = judge.run(variant.name, permuted);
    for (const Tensor& output : problem.outputs) {
      if (!output.by_row) continue;
      EXPECT_EQ(moved.bits(output.name), test::permuted_rows(right.bits(output.name), order))
          << variant.name << ": " << output.name << " of permuted rows";
    }
    for (const Tensor& input : problem.inputs) {
      if (!input.by_row || !inputs.at(input.name).bits.empty()) continue; // not for indices
      for (const double special :
           {std::numeric_limits<double>::quiet_NaN(), kInfinity, -kInfinity, 30.0}) {
        Inputs changed = inputs;
        const std::int64_t row = input.size() / rows;
        changed.at(input.name).values[static_cast<std::size_t>(4 * row - 1)] = special;
        const Outcome other = judge.run(variant, problem, changed);
        for (const Tensor& output : problem.outputs) {
          if (!output.by_row) continue;
          std::set<std::int64_t> differing;
          for (std::size_t i = 0; i < right.bits(output.name).size(); ++i)
            if (other.bits(output.name)[i] != right.bits(output.name)[i])
              differing.insert(static_cast<std::int64_t>(i) / (output.size() / rows));
          EXPECT_EQ(differing, std::set<std::int64_t>{3})
              << variant.name << ": " << special << " in row 3 of " << input.name;
        }
      }
    }
  });
}

} // namespace kg::card
