// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/models/image_reference.h"

#include "models/parts.h"
#include "models/safetensors.h"
#include "models/weights.h"
#include "runtime/error.h"
#include "runtime/temporary_folder.h"
#include "tests/models/trained.h"

#include <gtest/gtest.h>

namespace kg::test {
namespace {

using models::Execution;
using models::ImageConfig;
using reference::Image;

using Network = std::function<models::Model(const ImageConfig&)>;
using Reference = std::function<Image(const Weights<double>&, Image)>;

// The images of an input, channels first.
std::vector<Image> images_of(const Execution& execution, const ImageConfig& config) {
  std::vector<float> all = execution.read(execution.tape().named("x"));
  if (config.layout == Layout::nhwc)
    all = models::with_channels_first(all, 3, config.size * config.size);
  std::vector<Image> images;
  const auto each = static_cast<std::ptrdiff_t>(3 * config.size * config.size);
  for (auto at = all.begin(); at != all.end(); at += each)
    images.push_back({3, config.size, config.size, {at, at + each}});
  return images;
}

// In both layouts, from the same weights and images.
void expect_outputs(ImageConfig config, const Network& network, const Reference& reference) {
  for (const Layout layout : {Layout::nhwc, Layout::nchw}) {
    SCOPED_TRACE(name(layout));
    config.layout = layout;
    Stream stream;
    models::Model model = network(config);
    Execution execution(std::move(model.tape), stream);
    models::initialise(execution, 1);
    model.fill_inputs(execution, 2);
    execution.poison_unused(true);
    execution.run(models::Phase::forward);
    execution.check_memory();
    const Weights<double> weights = weights_of(execution);
    Rows<double> expected;
    for (Image& image : images_of(execution, config))
      expected.push_back(reference(weights, std::move(image)).values);
    expect_near(execution.read(model.output), expected);
  }
}

Network resnet_of(int depth) {
  return [depth](const ImageConfig& config) { return models::resnet(depth, config); };
}

TEST(Image, OutputsOfResnet50AreThoseOfTheReference) {
  expect_outputs({.batch = 2, .size = 40, .classes = 10, .narrower = 8}, resnet_of(50),
                 [](const Weights<double>& w, Image x) {
                   return reference::resnet(w, {3, 4, 6, 3}, true, std::move(x));
                 });
}

TEST(Image, OutputsOfResnet18AreThoseOfTheReference) {
  expect_outputs({.batch = 1, .size = 45, .classes = 10, .narrower = 8}, resnet_of(18),
                 [](const Weights<double>& w, Image x) {
                   return reference::resnet(w, {2, 2, 2, 2}, false, std::move(x));
                 });
}

TEST(Image, OutputsOfAlexnetAreThoseOfTheReference) {
  expect_outputs(
      {.batch = 1, .classes = 10, .narrower = 16}, models::alexnet,
      [](const Weights<double>& w, Image x) { return reference::alexnet(w, std::move(x)); });
}

// Those of torchvision's. There a batchnorm has two per channel; folded it is one bias.
TEST(Image, TheNetworksHaveTheirParameters) {
  const auto parameters = [](const models::Model& model) {
    std::int64_t weights = 0, biases = 0;
    for (const models::Parameter& each : model.tape.parameters())
      (each.inner.empty() ? biases : weights) += each.value.size();
    return std::pair(weights, biases);
  };
  const auto with_batchnorms = [&](const models::Model& model) {
    const auto [weights, biases] = parameters(model);
    return weights + 2 * (biases - 1000) + 1000; // the last layer has no batchnorm
  };
  EXPECT_EQ(with_batchnorms(models::resnet(18, {})), 11'689'512);
  EXPECT_EQ(with_batchnorms(models::resnet(50, {})), 25'557'032);
  EXPECT_EQ(with_batchnorms(models::resnet(101, {})), 44'549'160);
  const auto [weights, biases] = parameters(models::alexnet({}));
  EXPECT_EQ(weights + biases, 61'100'840);
}

TEST(Image, WeightsOfOneLayoutLoadInTheOther) {
  const ImageConfig config{.size = 33, .classes = 3, .narrower = 16, .layout = Layout::nhwc};
  ImageConfig other = config;
  other.layout = Layout::nchw;
  const TemporaryFolder folder;
  Stream stream;
  Execution last(models::resnet(18, config).tape, stream);
  Execution first(models::resnet(18, other).tape, stream);
  models::initialise(last, 1);
  save_weights(last, folder.path() / "w");
  load_weights(first, folder.path() / "w");
  EXPECT_EQ(weights_of(last), weights_of(first));
  models::SafetensorsReader reader(folder.path() / "w");
  EXPECT_EQ(reader.array("conv1.weight").shape, (std::vector<std::int64_t>{4, 3, 7, 7}));
}

TEST(Image, RefusesWhatIsNoNetwork) {
  EXPECT_THROW(models::resnet(34, {}), Error);
  EXPECT_THROW(models::alexnet({.size = 32}), Error);
  EXPECT_THROW(models::resnet(18, {.batch = 0}), Error);
}

} // namespace
} // namespace kg::test
