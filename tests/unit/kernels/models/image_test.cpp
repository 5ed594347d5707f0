// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/kernels/models/image_reference.h"

#include "models/parts.h"
#include "models/safetensors.h"
#include "models/weights.h"
#include "runtime/error.h"
#include "runtime/temporary_folder.h"
#include "tests/unit/kernels/models/trained.h"

#include <cmath>
#include <gtest/gtest.h>

namespace kg::test {
namespace {

using models::Batchnorms;
using models::Execution;
using models::ImageConfig;
using reference::Batch;

using Network = std::function<models::Model(const ImageConfig&)>;
using Reference = std::function<Rows<double>(const Weights<double>&, const Batch<double>&)>;

const reference::Resnet kResnet18{{2, 2, 2, 2}}, kResnet50{{3, 4, 6, 3}, true};

// The images of an input, channels first.
Batch<double> images_of(const Execution& execution, const ImageConfig& config) {
  std::vector<float> all = execution.read(execution.tape().named("x"));
  if (config.layout == Layout::nhwc)
    all = models::with_channels_first(all, 3, config.size * config.size);
  Batch<double> images;
  const auto each = static_cast<std::ptrdiff_t>(3 * config.size * config.size);
  for (auto at = all.begin(); at != all.end(); at += each)
    images.push_back({3, config.size, config.size, {at, at + each}});
  return images;
}

// In both layouts, from the same weights and images. Of 16 bits, `stored` tensors are rounded on
// the way, each off by up to a unit, uniformly: sqrt(stored / 3) units, with a margin of 4
// (low_precision_test.cpp).
void expect_outputs(ImageConfig config, const Network& network, const Reference& reference,
                    double stored = 0) {
  const double share =
      config.dtype == Dtype::f32 ? 1e-5 : 4 * unit_roundoff(config.dtype) * std::sqrt(stored / 3);
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
    expect_near(execution.read(model.output),
                reference(weights_of(execution), images_of(execution, config)), share);
  }
}

Network resnet_of(int depth) {
  return [depth](const ImageConfig& config) { return models::resnet(depth, config); };
}
Reference reference_of(reference::Resnet net) {
  net.running = true;
  return [net](const Weights<double>& w, const Batch<double>& x) {
    return reference::resnet(net, w, x);
  };
}

TEST(Image, OutputsOfResnet50AreThoseOfTheReference) {
  expect_outputs({.batch = 2, .size = 40, .classes = 10, .narrower = 8}, resnet_of(50),
                 reference_of(kResnet50));
}

TEST(Image, OutputsOfResnet18AreThoseOfTheReference) {
  for (const Batchnorms batchnorms : {Batchnorms::folded, Batchnorms::running})
    expect_outputs({.batch = 1, .size = 45, .classes = 10, .narrower = 8, .batchnorms = batchnorms},
                   resnet_of(18), reference_of(kResnet18));
}

TEST(Image, OutputsOfAlexnetAreThoseOfTheReference) {
  expect_outputs(
      {.batch = 1, .classes = 10, .narrower = 16},
      [](const ImageConfig& config) { return models::alexnet(config); },
      [](const Weights<double>& w, const Batch<double>& x) { return reference::alexnet(w, x); });
}

// Of a block two convolutions and a sum; before and behind them a convolution, an average and the
// classes. Of AlexNet five convolutions and three linear layers.
TEST(Image, OutputsOfSixteenBitsAreThoseOfTheReference) {
  for (const Dtype dtype : {Dtype::bf16, Dtype::f16}) {
    SCOPED_TRACE(name(dtype));
    expect_outputs({.batch = 1, .size = 45, .classes = 10, .narrower = 8, .dtype = dtype},
                   resnet_of(18), reference_of(kResnet18), 3 * 8 + 3);
    expect_outputs(
        {.batch = 1, .classes = 10, .narrower = 32, .dtype = dtype},
        [](const ImageConfig& config) { return models::alexnet(config); },
        [](const Weights<double>& w, const Batch<double>& x) { return reference::alexnet(w, x); },
        8);
  }
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
