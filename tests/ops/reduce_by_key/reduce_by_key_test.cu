// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests specific to reduce_by_key; its card configures those of every operation.
#include "ops/reduce_by_key/reduce_by_key.h"

#include "runtime/launch.h"
#include "tests/contract/own_test.h"
#include "tests/contract/samples.h"

namespace kg::card {
namespace {

// A sum starts from +0; among equal zeros the last one is the minimum and the maximum.
KG_OWN_TEST(SignsOfZeros) {
  if (is_integer(judge.dtype())) return;
  std::vector<double> x(30, -0.0), keys(30);
  for (std::size_t i = 0; i < x.size(); ++i) {
    keys[i] = static_cast<double>(i / 3);
    if (i % 5 == 0) x[i] = 0.0;
  }
  for (const char* op : {"sum", "min", "max", "first"}) {
    Sample sample{"zeros",
                  std::string(op) + "_k32_n30",
                  {{"keys", values(Dtype::i32, keys)}, {"values", values(judge.dtype(), x)}}};
    sample.may_be_vacuous = true;
    judge.check_exactly(sample);
  }
}

// Arguments that the contract's problems cannot have.
KG_OWN_TEST(RefusesProblems) {
  const DeviceBuffer<double> keys(9000), values(9000), unique(9000), results(9000);
  const DeviceBuffer<std::int32_t> count(1);
  LaunchRecorder recorder;
  const auto run = [&](const reduce_by_key::Problem& problem, void* workspace) {
    reduce_by_key::run(problem,
                       {keys.data(), values.data(), unique.data(), results.data(), count.data()},
                       workspace, reduce_by_key::Variant::automatic, judge.stream());
  };
  using reduce_by_key::Op;
  EXPECT_THROW(run({Op::sum, 9000, Dtype::f32, 8}, nullptr), Error);
  EXPECT_THROW(run({Op::sum, 20, Dtype::f32, 2}, nullptr), Error);
  EXPECT_THROW(run({Op::first, 20, Dtype::f16, 4}, nullptr), Error);
  EXPECT_THROW(run({Op::sum, std::int64_t{1} << 31, Dtype::f32, 4}, keys.data()), Error);
  EXPECT_TRUE(recorder.launches().empty());
}

} // namespace
} // namespace kg::card
