// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Every snippet of the table on this device: what it gives is what the PTX ISA says. On the host
// the device is the executor; on a GPU a failure says where the two differ, for they are held
// against the same words.
#include "tests/unit/kernels/runtime/ptx/snippets/run.h"
#include "tests/unit/kernels/runtime/ptx/snippets/table.h"

#include <gtest/gtest.h>
#include <iostream>

namespace kg::test::snippets {
namespace {

class Instruction : public testing::TestWithParam<std::size_t> {};

TEST_P(Instruction, GivesWhatTheIsaSays) {
  const Snippet& snippet = table()[GetParam()];
  if (const std::string why = not_for_this_device(snippet); !why.empty()) GTEST_SKIP() << why;
  const std::vector<Word> operands = operands_of(snippet);
  const std::vector<Word> results = run(snippet, operands);
  const std::size_t ins = snippet.inputs.size(), outs = snippet.outputs.size();
  const std::size_t lanes = std::size_t{kLanes} * snippet.cluster;
  std::vector<Wanted> wanted(lanes * outs);
  std::size_t wrong = 0, differing = 0;
  for (std::size_t first = 0; first < operands.size() / ins; first += lanes) {
    const Word* const in = operands.data() + first * ins;
    snippet.oracle(in, wanted.data());
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const std::string what =
          complaint(snippet, in + lane * ins, results.data() + (first + lane) * outs,
                    wanted.data() + lane * outs, differing);
      if (!what.empty() && ++wrong <= 5) ADD_FAILURE() << what;
    }
  }
  EXPECT_EQ(wrong, 0u) << "of " << operands.size() / ins << " results of " << snippet.form;
  if (differing > 0)
    std::cout << snippet.form << ": " << differing << " of " << operands.size() / ins
              << " results are not the nearest, and within the bound\n";
}

std::string name_of(const testing::TestParamInfo<std::size_t>& info) {
  return kernel_name(table()[info.param]).substr(3);
}

INSTANTIATE_TEST_SUITE_P(Ptx, Instruction, testing::Range(std::size_t{0}, table().size()), name_of);

} // namespace
} // namespace kg::test::snippets
