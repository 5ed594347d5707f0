// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Image networks, with the parameter names of torchvision's files. They train as in their papers,
// by stochastic gradient descent with momentum.
#include "models/images.h"
#include "models/initial_values.h"
#include "models/layers.h"
#include "models/model.h"
#include "models/parts.h"
#include "runtime/error.h"

#include <algorithm>
#include <array>
#include <utility>

namespace kg::models {
namespace {

// 0.1 for a batch of 256, scaled linearly: Goyal et al., arXiv 1706.02677, section 2.1.
optimizer::Step settings(std::int64_t batch) {
  return {.rate = 0.1 * static_cast<double>(batch) / 256, .beta1 = 0.9, .decay = 1e-4};
}

std::vector<std::int32_t> random_classes(std::uint64_t seed, std::int64_t count,
                                         std::int64_t classes) {
  std::vector<std::int32_t> chosen;
  for (const float value : uniform(seed, "targets", count, 0.5, 0.5))
    chosen.push_back(static_cast<std::int32_t>(
        std::min(static_cast<std::int64_t>(value * static_cast<float>(classes)), classes - 1)));
  return chosen;
}

// Wraps `network` with the input, the inputs' values and, for training, the loss and the update.
template <class Network>
Model made(std::string name, const ImageConfig& config, Purpose purpose, const Network& network) {
  require(config.batch > 0 && config.size >= 32 && config.classes > 0 && config.narrower > 0,
          name + ": batch, classes and narrower must be above 0, size at least 32");
  Model model{.name = std::move(name)};
  model.item = "images";
  model.items = config.batch;
  constexpr std::int64_t kColours = 3;
  Tape& tape = model.tape;
  const Tensor x =
      tape.input("x", config.batch, kColours * config.size * config.size, config.dtype);
  model.output = network(tape, Images{x, kColours, config.size, config.size, config.layout}).tensor;
  tape.keep(model.output);
  Tensor targets;
  if (purpose == Purpose::training) {
    const Layer here(tape, "loss");
    targets = tape.input("targets", config.batch, 1, Dtype::i32);
    tape.keep(model.loss = cross_entropy(tape, model.output, targets));
    tape.backward();
    optimise(tape, optimizer::Kind::momentum, settings(config.batch));
  }
  model.fill_inputs = [=, size = config.size, last = config.layout == Layout::nhwc,
                       classes = config.classes](Execution& execution, std::uint64_t seed) {
    if (targets.exists()) {
      const std::vector<std::int32_t> chosen = random_classes(seed, targets.rows, classes);
      execution.write(targets, std::span<const std::int32_t>(chosen));
    }
    const std::vector<float> values = uniform(seed, "x", x.size(), 0, 1);
    const std::vector<float> in_memory =
        last ? with_channels_last(values, kColours, size * size) : values;
    execution.write(x, std::span<const float>(in_memory));
  };
  return model;
}

// The batchnorm after a convolution: "bn1" after "conv1", "downsample.1" after "downsample.0".
std::string batchnorm_of(std::string convolution) {
  const std::size_t conv = convolution.rfind("conv");
  if (conv != std::string::npos) return convolution.replace(conv, 4, "bn");
  return convolution.replace(convolution.size() - 1, 1, "1");
}

// The context of all blocks.
struct Resnet {
  Tape& tape;
  Batchnorms batchnorms;
};

// A convolution followed by a batchnorm. `gain` scales the magnitude of the output.
Images normalised(const Resnet& at, const std::string& name, const Images& x, std::int64_t channels,
                  Window window, double gain = 1) {
  if (at.batchnorms == Batchnorms::folded)
    return convolution(at.tape, name, x, {channels, window, gain});
  const Images y = convolution(at.tape, name, x, {channels, window, 1, false});
  return batchnorm(at.tape, batchnorm_of(name), y,
                   at.batchnorms == Batchnorms::batch ? Statistics::batch : Statistics::running,
                   gain);
}

// He et al., "Deep residual learning for image recognition", arXiv 1512.03385, figure 5. The stride
// is in the 3 x 3 convolution, as in torchvision.
struct Block {
  std::string name;
  std::int64_t channels, stride;
};

// The last convolution of a block starts small, so that the sum over the blocks keeps its magnitude
// (Goyal et al., section 5.1, start with 0).
constexpr double kLastGain = 0.25;

Images shortcut(const Resnet& at, const Block& block, const Images& x, std::int64_t channels) {
  if (block.stride == 1 && x.channels == channels) return x;
  return normalised(at, block.name + ".downsample.0", x, channels, {.stride = block.stride}, 0.7);
}

Images basic(const Resnet& at, const Block& block, const Images& x) {
  const Layer here(at.tape, block.name);
  Images y = relu(at.tape, normalised(at, block.name + ".conv1", x, block.channels,
                                      {.kernel = 3, .stride = block.stride, .padding = 1}));
  y = normalised(at, block.name + ".conv2", y, block.channels, {.kernel = 3, .padding = 1},
                 kLastGain);
  return relu(at.tape, add(at.tape, y, shortcut(at, block, x, block.channels)));
}

Images bottleneck(const Resnet& at, const Block& block, const Images& x) {
  const Layer here(at.tape, block.name);
  const std::int64_t wide = 4 * block.channels;
  Images y = relu(at.tape, normalised(at, block.name + ".conv1", x, block.channels, {}));
  y = relu(at.tape, normalised(at, block.name + ".conv2", y, block.channels,
                               {.kernel = 3, .stride = block.stride, .padding = 1}));
  y = normalised(at, block.name + ".conv3", y, wide, {}, kLastGain);
  return relu(at.tape, add(at.tape, y, shortcut(at, block, x, wide)));
}

std::array<int, 4> blocks_of(int depth) {
  switch (depth) {
  case 18: return {2, 2, 2, 2};
  case 50: return {3, 4, 6, 3};
  case 101: return {3, 4, 23, 3};
  default: fail("resnet: expected a depth of 18, 50 or 101, got " + std::to_string(depth));
  }
}

} // namespace

Model resnet(int depth, const ImageConfig& config, Purpose purpose) {
  const std::array<int, 4> blocks = blocks_of(depth);
  require(config.batchnorms != Batchnorms::batch || purpose == Purpose::training,
          "resnet: the statistics of a batch are for training");
  return made("resnet" + std::to_string(depth), config, purpose, [&](Tape& tape, Images x) {
    const Resnet at{tape, purpose == Purpose::training ? Batchnorms::batch : config.batchnorms};
    std::int64_t channels = 64 / config.narrower;
    x = relu(tape, normalised(at, "conv1", x, channels, {.kernel = 7, .stride = 2, .padding = 3}));
    x = max_pool(tape, x, {.kernel = 3, .stride = 2, .padding = 1});
    for (int stage = 0; stage < 4; ++stage, channels *= 2)
      for (int i = 0; i < blocks[static_cast<std::size_t>(stage)]; ++i) {
        const Block block{"layer" + std::to_string(stage + 1) + "." + std::to_string(i), channels,
                          stage > 0 && i == 0 ? 2 : 1};
        x = depth == 18 ? basic(at, block, x) : bottleneck(at, block, x);
      }
    return classify(tape, "fc", global_average(tape, x), config.classes);
  });
}

// Krizhevsky, "One weird trick for parallelizing convolutional neural networks", arXiv 1404.5997:
// AlexNet on one device, as in torchvision, for images of 224 x 224. Without dropout.
Model alexnet(const ImageConfig& config, Purpose purpose) {
  require(config.size == 224, "alexnet: its images are of 224 x 224");
  return made("alexnet", config, purpose, [&](Tape& tape, Images x) {
    const auto convolved = [&](int number, std::int64_t channels, Window window) {
      const std::string name = "features." + std::to_string(number);
      const Layer here(tape, name);
      return relu(tape, convolution(tape, name, x, {channels / config.narrower, window}));
    };
    const auto dense = [&](int number, std::int64_t features) {
      const std::string name = "classifier." + std::to_string(number);
      const Layer here(tape, name);
      return classify(tape, name, x, features);
    };
    x = convolved(0, 64, {.kernel = 11, .stride = 4, .padding = 2});
    x = max_pool(tape, x, {.kernel = 3, .stride = 2});
    x = convolved(3, 192, {.kernel = 5, .padding = 2});
    x = max_pool(tape, x, {.kernel = 3, .stride = 2});
    x = convolved(6, 384, {.kernel = 3, .padding = 1});
    x = convolved(8, 256, {.kernel = 3, .padding = 1});
    x = convolved(10, 256, {.kernel = 3, .padding = 1});
    x = max_pool(tape, x, {.kernel = 3, .stride = 2});
    x = relu(tape, dense(1, 4096 / config.narrower));
    x = relu(tape, dense(4, 4096 / config.narrower));
    return dense(6, config.classes);
  });
}

} // namespace kg::models
