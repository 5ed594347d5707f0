// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Networks for images in plain loops of doubles: one tap at a time, channels first, weights as
// files hold them.
#pragma once

#include "tests/models/reference.h"

#include <algorithm>
#include <limits>

namespace kg::test::reference {

// One image: channels x height x width.
struct Image {
  std::int64_t channels = 0, height = 0, width = 0;
  std::vector<double> values;
  double& at(std::int64_t c, std::int64_t y, std::int64_t x) {
    return values[static_cast<std::size_t>((c * height + y) * width + x)];
  }
};

// Calls `visit(y, x, down, across)` for each tap of the output (row, col)'s window that lies in the
// image.
template <class Visit>
void each_tap(const Image& image, std::int64_t row, std::int64_t col, std::int64_t kernel,
              std::int64_t stride, std::int64_t padding, const Visit& visit) {
  for (std::int64_t down = 0; down < kernel; ++down)
    for (std::int64_t across = 0; across < kernel; ++across) {
      const std::int64_t y = row * stride + down - padding, x = col * stride + across - padding;
      if (y >= 0 && y < image.height && x >= 0 && x < image.width) visit(y, x, down, across);
    }
}

inline Image output_of(const Image& x, std::int64_t channels, std::int64_t kernel,
                       std::int64_t stride, std::int64_t padding) {
  Image y{channels,
          (x.height + 2 * padding - kernel) / stride + 1,
          (x.width + 2 * padding - kernel) / stride + 1,
          {}};
  y.values.resize(static_cast<std::size_t>(channels * y.height * y.width));
  return y;
}

inline Image convolution(const Weights<double>& w, const std::string& name, Image x,
                         std::int64_t kernel, std::int64_t stride, std::int64_t padding) {
  const std::vector<double>&weights = w.at(name + ".weight"), &bias = w.at(name + ".bias");
  Image y = output_of(x, static_cast<std::int64_t>(bias.size()), kernel, stride, padding);
  for (std::int64_t out = 0; out < y.channels; ++out)
    for (std::int64_t row = 0; row < y.height; ++row)
      for (std::int64_t col = 0; col < y.width; ++col) {
        double sum = bias[static_cast<std::size_t>(out)];
        for (std::int64_t in = 0; in < x.channels; ++in) {
          const double* taps =
              &weights[static_cast<std::size_t>((out * x.channels + in) * kernel * kernel)];
          const double* plane = &x.values[static_cast<std::size_t>(in * x.height * x.width)];
          each_tap(x, row, col, kernel, stride, padding,
                   [&](std::int64_t i, std::int64_t j, std::int64_t down, std::int64_t across) {
                     sum += plane[i * x.width + j] * taps[down * kernel + across];
                   });
        }
        y.at(out, row, col) = sum;
      }
  return y;
}

inline Image max_pool(Image x, std::int64_t kernel, std::int64_t stride, std::int64_t padding) {
  Image y = output_of(x, x.channels, kernel, stride, padding);
  for (std::int64_t c = 0; c < y.channels; ++c)
    for (std::int64_t row = 0; row < y.height; ++row)
      for (std::int64_t col = 0; col < y.width; ++col) {
        double greatest = -std::numeric_limits<double>::infinity();
        each_tap(x, row, col, kernel, stride, padding,
                 [&](std::int64_t i, std::int64_t j, std::int64_t, std::int64_t) {
                   greatest = std::max(greatest, x.at(c, i, j));
                 });
        y.at(c, row, col) = greatest;
      }
  return y;
}

inline Image global_average(Image x) {
  Image y{x.channels, 1, 1, {}};
  const auto places = static_cast<std::size_t>(x.height * x.width);
  for (std::size_t c = 0; c < static_cast<std::size_t>(x.channels); ++c) {
    double sum = 0;
    for (std::size_t i = 0; i < places; ++i) sum += x.values[c * places + i];
    y.values.push_back(sum / static_cast<double>(places));
  }
  return y;
}

inline Image relu(Image x) {
  for (double& each : x.values) each = std::max(each, 0.0);
  return x;
}

inline Image add(Image a, const Image& b) {
  for (std::size_t i = 0; i < a.values.size(); ++i) a.values[i] += b.values[i];
  return a;
}

inline Image dense(const Weights<double>& w, const std::string& name, const Image& x) {
  const Rows<double> y =
      linear(Rows<double>{x.values}, w.at(name + ".weight"), &w.at(name + ".bias"));
  return {static_cast<std::int64_t>(y[0].size()), 1, 1, y[0]};
}

inline Image resnet(const Weights<double>& w, const std::vector<int>& blocks, bool bottlenecks,
                    Image x) {
  const auto conv = [&](const std::string& name, const Image& in, std::int64_t kernel,
                        std::int64_t stride) {
    return convolution(w, name, in, kernel, stride, kernel / 2);
  };
  x = max_pool(relu(conv("conv1", x, 7, 2)), 3, 2, 1);
  for (std::size_t stage = 0; stage < blocks.size(); ++stage)
    for (int i = 0; i < blocks[stage]; ++i) {
      const std::string name = "layer" + std::to_string(stage + 1) + "." + std::to_string(i) + ".";
      const std::int64_t stride = stage > 0 && i == 0 ? 2 : 1;
      Image y =
          bottlenecks
              ? conv(name + "conv3",
                     relu(conv(name + "conv2", relu(conv(name + "conv1", x, 1, 1)), 3, stride)), 1,
                     1)
              : conv(name + "conv2", relu(conv(name + "conv1", x, 3, stride)), 3, 1);
      const bool projected = w.contains(name + "downsample.0.weight");
      x = relu(add(std::move(y), projected ? conv(name + "downsample.0", x, 1, stride) : x));
    }
  return dense(w, "fc", global_average(std::move(x)));
}

inline Image alexnet(const Weights<double>& w, Image x) {
  x = max_pool(relu(convolution(w, "features.0", std::move(x), 11, 4, 2)), 3, 2, 0);
  x = max_pool(relu(convolution(w, "features.3", std::move(x), 5, 1, 2)), 3, 2, 0);
  for (const char* name : {"features.6", "features.8", "features.10"})
    x = relu(convolution(w, name, std::move(x), 3, 1, 1));
  x = max_pool(std::move(x), 3, 2, 0);
  x = relu(dense(w, "classifier.1", x));
  x = relu(dense(w, "classifier.4", x));
  return dense(w, "classifier.6", x);
}

} // namespace kg::test::reference
