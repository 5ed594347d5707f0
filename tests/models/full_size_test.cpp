// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Qwen2.5-0.5B as large as it is. Its 63 billion products take the plain loops minutes: at night.
#include "tests/models/trained.h"

#include <gtest/gtest.h>

namespace kg::test {
namespace {

TEST(FullSize, LogitsOfQwenAreThoseOfTheReference) {
  constexpr std::int64_t kSequence = 128;
  const auto config = models::read_transformer_config(KERNELGRADE_QWEN);
  Stream stream;
  models::Model model = models::transformer(config, 1, kSequence, models::Purpose::inference);
  models::Execution execution(std::move(model.tape), stream);
  models::initialise(execution, 1);
  model.fill_inputs(execution, 2);
  execution.run(models::Phase::forward);
  execution.check_memory();
  const auto tokens = execution.read_integers(execution.tape().named("tokens"));
  expect_near(execution.read(model.output),
              reference::transformer(weights_of(execution), config, {1, kSequence}, tokens));
}

} // namespace
} // namespace kg::test
