// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Training of networks for images, each as small as its figure allows, against the plain loops.
#include "models/parts.h"
#include "tests/unit/kernels/models/image_reference.h"
#include "tests/unit/kernels/models/trained.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>

namespace kg::test {
namespace {

using models::Execution;
using models::ImageConfig;
using models::Purpose;
using reference::Batch;

// 33 pixels leave 2 x 2 places of the last blocks, so that a batchnorm has 12 of a channel.
constexpr ImageConfig kConfig{.batch = 3, .size = 33, .classes = 5, .narrower = 32};
constexpr ImageConfig kAlexnet{.batch = 1, .classes = 5, .narrower = 32};

// A rate of 0.1 for a batch of 256. Differences are small, so that few activations pass through a
// relu's kink.
Training training_of(const ImageConfig& config) {
  return {.adamw = false,
          .rate = 0.1 * static_cast<double>(config.batch) / 256,
          .decay = 1e-4,
          .samples = 3,
          .difference = 1e-7};
}

models::Model resnet(int depth, Layout layout) {
  ImageConfig config = kConfig;
  config.layout = layout;
  return models::resnet(depth, config, Purpose::training);
}

struct Trained {
  Stream stream;
  models::Model model;
  Execution execution;
  explicit Trained(models::Model of)
      : model(std::move(of)), execution(
                                  [this] {
                                    keep_gradients(model.tape);
                                    return std::move(model.tape);
                                  }(),
                                  stream) {
    models::initialise(execution, 1);
    model.fill_inputs(execution, 2);
  }

  // Channels first.
  template <class T>
  Batch<T> images(const ImageConfig& config, Layout layout) const {
    std::vector<float> all = execution.read(execution.tape().named("x"));
    const std::int64_t places = config.size * config.size;
    if (layout == Layout::nhwc) all = models::with_channels_first(all, 3, places);
    Batch<T> images;
    for (auto at = all.begin(); at != all.end(); at += 3 * places) {
      images.push_back({3, config.size, config.size, {}});
      for (auto value = at; value != at + 3 * places; ++value)
        images.back().values.push_back(T(static_cast<double>(*value)));
    }
    return images;
  }

  // `outputs(weights, images)` are those of the reference.
  template <class Outputs>
  ReferenceLoss loss(const ImageConfig& config, Layout layout, const Outputs& outputs) const {
    const auto targets = execution.read_integers(execution.tape().named("targets"));
    return {[=, images = images<double>(config, layout)](const Weights<double>& w) {
              return reference::cross_entropy(outputs(w, images), targets);
            },
            [=, images = images<Scalar>(config, layout)](const Weights<Scalar>& w) {
              return reference::cross_entropy(outputs(w, images), targets);
            }};
  }
};

constexpr auto kOutputsOfResnet18 = [](const auto& w, const auto& x) {
  return reference::resnet({{2, 2, 2, 2}}, w, x);
};
constexpr auto kOutputsOfResnet50 = [](const auto& w, const auto& x) {
  return reference::resnet({{3, 4, 6, 3}, true}, w, x);
};
constexpr auto kOutputsOfAlexnet = [](const auto& w, const auto& x) {
  return reference::alexnet(w, x);
};

TEST(ImageTraining, GradientsOfResnet18AreThoseOfTheReference) {
  for (const Layout layout : {Layout::nhwc, Layout::nchw}) {
    SCOPED_TRACE(name(layout));
    Trained trained(resnet(18, layout));
    expect_gradients(trained.execution, trained.loss(kConfig, layout, kOutputsOfResnet18),
                     training_of(kConfig));
  }
}

TEST(ImageTraining, GradientsOfResnet50AreThoseOfTheReference) {
  Trained trained(resnet(50, Layout::nhwc));
  expect_gradients(trained.execution, trained.loss(kConfig, Layout::nhwc, kOutputsOfResnet50),
                   training_of(kConfig));
}

TEST(ImageTraining, GradientsOfAlexnetAreThoseOfTheReference) {
  Trained trained(models::alexnet(kAlexnet, Purpose::training));
  expect_gradients(trained.execution, trained.loss(kAlexnet, Layout::nhwc, kOutputsOfAlexnet),
                   training_of(kAlexnet));
}

double distance_of(const std::vector<double>& a, const std::vector<double>& b) {
  double distance = 0;
  for (std::size_t i = 0; i < a.size(); ++i) distance += std::abs(a[i] - b[i]);
  return distance;
}

// A batchnorm passes on what 27 layers round before it, and relus flip: gradients of bf16 are off
// by whole per cents. Of each parameter they are as far from the loops as the loops are from
// themselves where all that bf16 stores errs at random, and twice that.
TEST(ImageTraining, GradientsOfSixteenBitsAreThoseOfTheReference) {
  ImageConfig config = kConfig;
  config.batch = 8;
  config.layout = Layout::nhwc;
  config.dtype = Dtype::bf16;
  Trained trained(models::resnet(18, config, Purpose::training));
  trained.execution.run(models::Phase::forward);
  trained.execution.run(models::Phase::backward);
  const ReferenceLoss loss = trained.loss(config, config.layout, kOutputsOfResnet18);
  const Weights<double> weights = weights_of(trained.execution);
  const Weights<double> there = differentiate(loss, weights).gradient;
  const Weights<double> moved[] = {moved_at_random(loss, weights, config.dtype),
                                   moved_at_random(loss, weights, config.dtype),
                                   moved_at_random(loss, weights, config.dtype)};
  double off = 0, allowed = 0, size = 0;
  for (const auto& [name, ours] : gradients_of(trained.execution)) {
    const std::vector<double>& gradient = there.at(name);
    double farthest = 0;
    for (const Weights<double>& each : moved)
      farthest = std::max(farthest, distance_of(each.at(name), gradient));
    EXPECT_LE(distance_of(ours, gradient), 2 * farthest) << name;
    off += distance_of(ours, gradient);
    allowed += 2 * farthest;
    size += distance_of(gradient, std::vector<double>(gradient.size()));
  }
  EXPECT_LE(allowed, 0.5 * size) << "the bound tells nothing";
  std::printf("bf16 gradients: off by %.1e of their size, of %.1e allowed\n", off / size,
              allowed / size);
}

TEST(ImageTraining, TenStepsOfResnetHaveTheReferencesLosses) {
  Trained trained(resnet(18, Layout::nhwc));
  expect_same_training(trained.execution, trained.model.loss,
                       trained.loss(kConfig, Layout::nhwc, kOutputsOfResnet18),
                       training_of(kConfig));
}

TEST(ImageTraining, TenStepsOfAlexnetHaveTheReferencesLosses) {
  Trained trained(models::alexnet(kAlexnet, Purpose::training));
  expect_same_training(trained.execution, trained.model.loss,
                       trained.loss(kAlexnet, Layout::nhwc, kOutputsOfAlexnet),
                       training_of(kAlexnet));
}

// running = 0.9 running + 0.1 batch, the variance over n - 1 (batchnorm.h).
TEST(ImageTraining, RunningStatisticsMove) {
  Trained trained(resnet(18, Layout::nhwc));
  const Weights<double> before = weights_of(trained.execution);
  trained.execution.run(models::Phase::forward);
  const Weights<double> after = weights_of(trained.execution);
  const Batch<double> y = reference::convolution(
      before, "conv1", trained.images<double>(kConfig, Layout::nhwc), 7, 2, 3);
  const auto places = static_cast<std::size_t>(y[0].height * y[0].width);
  for (std::size_t c = 0; c < static_cast<std::size_t>(y[0].channels); ++c) {
    double sum = 0, squares = 0;
    const double count = static_cast<double>(y.size() * places);
    for (const auto& image : y)
      for (std::size_t i = 0; i < places; ++i) {
        sum += image.values[c * places + i];
        squares += image.values[c * places + i] * image.values[c * places + i];
      }
    const double mean = sum / count, variance = (squares - sum * mean) / (count - 1);
    EXPECT_NEAR(after.at("bn1.running_mean")[c],
                0.9 * before.at("bn1.running_mean")[c] + 0.1 * mean, 1e-6);
    EXPECT_NEAR(after.at("bn1.running_var")[c],
                0.9 * before.at("bn1.running_var")[c] + 0.1 * variance, 1e-6 * (1 + variance));
  }
}

TEST(ImageTraining, MemoryIsPlanned) {
  expect_planned_memory([] { return resnet(18, Layout::nhwc); });
}

} // namespace
} // namespace kg::test
