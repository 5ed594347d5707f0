// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What the executions of a kernel from elsewhere do beside it; CANDIDATE is softmax.cu, compiled.
#include "tests/contract/candidate.h"
#include "tests/contract/execute.h"

#include <gtest/gtest.h>

namespace kg::card {

const Card& softmax();

namespace {

TEST(CandidateExecutions, ParseTheShapeOnceForAll) {
  const Card candidate = candidate_card(softmax(), CANDIDATE);
  const Problem problem = candidate.problem(Dtype::f32, Shape::parse("rows3_cols40"));
  Stream stream;
  Bound bound(problem, completed(problem, {}), stream);
  const auto& run = candidate.variants.front().run;
  run(bound.call, stream);
  const std::int64_t before = Shape::parses();
  run(bound.call, stream);
  EXPECT_EQ(Shape::parses() - before, 0);
}

} // namespace
} // namespace kg::card
