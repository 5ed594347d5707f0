// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Networks for images, with the names that torchvision's files have.
#include "models/images.h"
#include "models/initial_values.h"
#include "models/model.h"
#include "models/parts.h"
#include "runtime/error.h"

#include <array>
#include <utility>

namespace kg::models {
namespace {

// Begins with the input and ends with the classes; `network` is between the two.
template <class Network>
Model made(std::string name, const ImageConfig& config, const Network& network) {
  require(config.batch > 0 && config.size >= 32 && config.classes > 0 && config.narrower > 0,
          name + ": batch, classes and narrower must be above 0, size at least 32");
  Model model{.name = std::move(name)};
  model.item = "images";
  model.items = config.batch;
  constexpr std::int64_t kColours = 3;
  const Tensor x = model.tape.input("x", config.batch, kColours * config.size * config.size);
  model.output =
      network(model.tape, Images{x, kColours, config.size, config.size, config.layout}).tensor;
  model.tape.keep(model.output);
  model.fill_inputs = [x, size = config.size, last = config.layout == Layout::nhwc](
                          Execution& execution, std::uint64_t seed) {
    const std::vector<float> values = uniform(seed, "x", x.size(), 0, 1);
    const std::vector<float> in_memory =
        last ? with_channels_last(values, kColours, size * size) : values;
    execution.write(x, std::span<const float>(in_memory));
  };
  return model;
}

// He et al., "Deep residual learning for image recognition", arXiv 1512.03385, figure 5. The stride
// is in the 3 x 3 convolution, as in torchvision.
struct ResnetBlock {
  std::string name;
  std::int64_t channels, stride;
};

// The last convolution of a block begins small, so that what the blocks add up to stays of one size
// (Goyal et al., arXiv 1706.02677, section 5.1, begin with 0).
constexpr double kLastGain = 0.25;

Images shortcut(Tape& tape, const ResnetBlock& block, const Images& x, std::int64_t channels) {
  if (block.stride == 1 && x.channels == channels) return x;
  return convolution(tape, block.name + ".downsample.0", x, channels, {.stride = block.stride},
                     0.7);
}

Images basic(Tape& tape, const ResnetBlock& block, const Images& x) {
  const Layer here(tape, block.name);
  Images y = relu(tape, convolution(tape, block.name + ".conv1", x, block.channels,
                                    {.kernel = 3, .stride = block.stride, .padding = 1}));
  y = convolution(tape, block.name + ".conv2", y, block.channels, {.kernel = 3, .padding = 1},
                  kLastGain);
  return relu(tape, add(tape, y, shortcut(tape, block, x, block.channels)));
}

Images bottleneck(Tape& tape, const ResnetBlock& block, const Images& x) {
  const Layer here(tape, block.name);
  const std::int64_t wide = 4 * block.channels;
  Images y = relu(tape, convolution(tape, block.name + ".conv1", x, block.channels, {}));
  y = relu(tape, convolution(tape, block.name + ".conv2", y, block.channels,
                             {.kernel = 3, .stride = block.stride, .padding = 1}));
  y = convolution(tape, block.name + ".conv3", y, wide, {}, kLastGain);
  return relu(tape, add(tape, y, shortcut(tape, block, x, wide)));
}

std::array<int, 4> blocks_of(int depth) {
  switch (depth) {
  case 18: return {2, 2, 2, 2};
  case 50: return {3, 4, 6, 3};
  case 101: return {3, 4, 23, 3};
  default: fail("resnet: there is none of depth " + std::to_string(depth) + "; 18, 50 and 101 are");
  }
}

} // namespace

Model resnet(int depth, const ImageConfig& config) {
  const std::array<int, 4> blocks = blocks_of(depth);
  return made("resnet" + std::to_string(depth), config, [&](Tape& tape, Images x) {
    std::int64_t channels = 64 / config.narrower;
    x = relu(tape,
             convolution(tape, "conv1", x, channels, {.kernel = 7, .stride = 2, .padding = 3}));
    x = max_pool(tape, x, {.kernel = 3, .stride = 2, .padding = 1});
    for (int stage = 0; stage < 4; ++stage, channels *= 2)
      for (int i = 0; i < blocks[static_cast<std::size_t>(stage)]; ++i) {
        const ResnetBlock block{"layer" + std::to_string(stage + 1) + "." + std::to_string(i),
                                channels, stage > 0 && i == 0 ? 2 : 1};
        x = depth == 18 ? basic(tape, block, x) : bottleneck(tape, block, x);
      }
    return classify(tape, "fc", global_average(tape, x), config.classes);
  });
}

// Krizhevsky, "One weird trick for parallelizing convolutional neural networks", arXiv 1404.5997:
// AlexNet on one device, as torchvision has it, whose images are of 224 x 224.
Model alexnet(const ImageConfig& config) {
  require(config.size == 224, "alexnet: its images are of 224 x 224");
  return made("alexnet", config, [&](Tape& tape, Images x) {
    const auto convolved = [&](int number, std::int64_t channels, Window window) {
      const std::string name = "features." + std::to_string(number);
      const Layer here(tape, name);
      return relu(tape, convolution(tape, name, x, channels / config.narrower, window));
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
