// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Models as large as they are. The 63 billion products of Qwen2.5-0.5B take the plain loops
// minutes: at night.
#include "models/parts.h"
#include "tests/unit/kernels/models/image_reference.h"
#include "tests/unit/kernels/models/trained.h"

#include <gtest/gtest.h>

namespace kg::test {
namespace {

void expect_logits(const char* file) {
  constexpr std::int64_t kSequence = 128;
  const auto config = models::read_transformer_config(file);
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

TEST(FullSize, LogitsOfQwenAreThoseOfTheReference) { expect_logits(KERNELGRADE_QWEN); }

TEST(FullSize, LogitsOfGpt2AreThoseOfTheReference) { expect_logits(KERNELGRADE_GPT2); }

// The sizes of J1: batch 8 of 224 x 224.
template <class Outputs>
void expect_classes(models::Model model, const Outputs& outputs) {
  Stream stream;
  models::Execution execution(std::move(model.tape), stream);
  models::initialise(execution, 1);
  model.fill_inputs(execution, 2);
  execution.run(models::Phase::forward);
  execution.check_memory();
  const std::vector<float> x = models::with_channels_first(
      execution.read(execution.tape().named("x")), 3, std::int64_t{224} * 224);
  reference::Batch<double> images;
  for (auto at = x.begin(); at != x.end(); at += 3 * 224 * 224)
    images.push_back({3, 224, 224, {at, at + 3 * 224 * 224}});
  expect_near(execution.read(model.output), outputs(weights_of(execution), images));
}

TEST(FullSize, ClassesOfResnet50AreThoseOfTheReference) {
  expect_classes(models::resnet(50, {.batch = 8}), [](const auto& w, const auto& x) {
    return reference::resnet({{3, 4, 6, 3}, true}, w, x);
  });
}

TEST(FullSize, ClassesOfAlexnetAreThoseOfTheReference) {
  expect_classes(models::alexnet({.batch = 8}),
                 [](const auto& w, const auto& x) { return reference::alexnet(w, x); });
}

} // namespace
} // namespace kg::test
