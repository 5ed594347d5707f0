// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Networks for images in plain loops over T: one tap at a time, channels first, weights as files
// hold them.
#pragma once

#include "tests/unit/kernels/models/reference.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace kg::test::reference {

// One image: channels x height x width.
template <class T>
struct Image {
  std::int64_t channels = 0, height = 0, width = 0;
  std::vector<T> values;
  T& at(std::int64_t c, std::int64_t y, std::int64_t x) {
    return values[static_cast<std::size_t>((c * height + y) * width + x)];
  }
};
template <class T>
using Batch = std::vector<Image<T>>;

// Calls `visit(y, x, down, across)` for each tap of the output (row, col)'s window that lies in the
// image.
template <class T, class Visit>
void each_tap(const Image<T>& image, std::int64_t row, std::int64_t col, std::int64_t kernel,
              std::int64_t stride, std::int64_t padding, const Visit& visit) {
  for (std::int64_t down = 0; down < kernel; ++down)
    for (std::int64_t across = 0; across < kernel; ++across) {
      const std::int64_t y = row * stride + down - padding, x = col * stride + across - padding;
      if (y >= 0 && y < image.height && x >= 0 && x < image.width) visit(y, x, down, across);
    }
}

// Each image's, whose outputs `value(image, channel, row, col)` gives.
template <class T, class Value>
Batch<T> windowed(Batch<T> batch, std::int64_t channels, std::int64_t kernel, std::int64_t stride,
                  std::int64_t padding, const Value& value) {
  for (Image<T>& x : batch) {
    Image<T> y{channels,
               (x.height + 2 * padding - kernel) / stride + 1,
               (x.width + 2 * padding - kernel) / stride + 1,
               {}};
    for (std::int64_t c = 0; c < channels; ++c)
      for (std::int64_t row = 0; row < y.height; ++row)
        for (std::int64_t col = 0; col < y.width; ++col) y.values.push_back(value(x, c, row, col));
    x = std::move(y);
  }
  return batch;
}

template <class T>
Batch<T> convolution(const Weights<T>& w, const std::string& name, Batch<T> batch,
                     std::int64_t kernel, std::int64_t stride, std::int64_t padding) {
  const std::vector<T>& weights = w.at(name + ".weight");
  const auto bias = w.find(name + ".bias");
  const std::int64_t taps = batch.front().channels * kernel * kernel;
  return windowed(
      std::move(batch), std::ssize(weights) / taps, kernel, stride, padding,
      [&](const Image<T>& x, std::int64_t out, std::int64_t row, std::int64_t col) {
        T sum = bias == w.end() ? T(0.0) : bias->second[static_cast<std::size_t>(out)];
        for (std::int64_t in = 0; in < x.channels; ++in) {
          const T* filter =
              &weights[static_cast<std::size_t>((out * x.channels + in) * kernel * kernel)];
          const T* plane = &x.values[static_cast<std::size_t>(in * x.height * x.width)];
          each_tap(x, row, col, kernel, stride, padding,
                   [&](std::int64_t i, std::int64_t j, std::int64_t down, std::int64_t across) {
                     sum += plane[i * x.width + j] * filter[down * kernel + across];
                   });
        }
        return stored(sum);
      });
}

template <class T>
Batch<T> max_pool(Batch<T> batch, std::int64_t kernel, std::int64_t stride, std::int64_t padding) {
  const std::int64_t channels = batch.front().channels;
  return windowed(std::move(batch), channels, kernel, stride, padding,
                  [&](Image<T>& x, std::int64_t c, std::int64_t row, std::int64_t col) {
                    T greatest = -std::numeric_limits<double>::infinity();
                    each_tap(x, row, col, kernel, stride, padding,
                             [&](std::int64_t i, std::int64_t j, std::int64_t, std::int64_t) {
                               if (value_of(x.at(c, i, j)) > value_of(greatest))
                                 greatest = x.at(c, i, j);
                             });
                    return greatest;
                  });
}

template <class T>
Batch<T> global_average(Batch<T> batch) {
  for (Image<T>& x : batch) {
    Image<T> y{x.channels, 1, 1, {}};
    const auto places = static_cast<std::size_t>(x.height * x.width);
    for (std::size_t c = 0; c < static_cast<std::size_t>(x.channels); ++c) {
      T sum = 0.0;
      for (std::size_t i = 0; i < places; ++i) sum += x.values[c * places + i];
      y.values.push_back(stored(sum / T(static_cast<double>(places))));
    }
    x = std::move(y);
  }
  return batch;
}

template <class T>
Batch<T> relu(Batch<T> batch) {
  for (Image<T>& image : batch)
    for (T& each : image.values)
      if (value_of(each) < 0) each = T(0.0);
  return batch;
}

template <class T>
Batch<T> add(Batch<T> a, const Batch<T>& b) {
  for (std::size_t image = 0; image < a.size(); ++image)
    for (std::size_t i = 0; i < a[image].values.size(); ++i)
      a[image].values[i] = stored(a[image].values[i] + b[image].values[i]);
  return a;
}

template <class T>
Batch<T> dense(const Weights<T>& w, const std::string& name, Batch<T> batch) {
  for (Image<T>& x : batch) {
    Rows<T> y = linear(Rows<T>{x.values}, w.at(name + ".weight"), &w.at(name + ".bias"));
    for (T& each : y[0]) each = stored(each);
    x = {static_cast<std::int64_t>(y[0].size()), 1, 1, std::move(y[0])};
  }
  return batch;
}

// By the mean and the variance of the batch, or by the running ones.
template <class T>
Batch<T> batchnorm(const Weights<T>& w, const std::string& name, Batch<T> batch, bool running) {
  const auto places = static_cast<std::size_t>(batch[0].height * batch[0].width);
  for (std::size_t c = 0; c < static_cast<std::size_t>(batch[0].channels); ++c) {
    const auto each = [&](const auto& visit) {
      for (Image<T>& image : batch)
        for (std::size_t i = 0; i < places; ++i) visit(image.values[c * places + i]);
    };
    const T count = static_cast<double>(batch.size() * places);
    T sum = 0.0, squares = 0.0;
    if (!running) each([&](T& x) { sum += x; });
    const T mean = running ? w.at(name + ".running_mean")[c] : sum / count;
    if (!running) each([&](T& x) { squares += (x - mean) * (x - mean); });
    const T variance = running ? w.at(name + ".running_var")[c] : squares / count;
    const T factor = w.at(name + ".weight")[c] / sqrt_of(variance + T(1e-5));
    each([&](T& x) { x = stored((x - mean) * factor + w.at(name + ".bias")[c]); });
  }
  return batch;
}

template <class T>
Rows<T> rows(Batch<T> batch) {
  Rows<T> rows;
  for (Image<T>& image : batch) rows.push_back(std::move(image.values));
  return rows;
}

// Batchnorms that are not among the weights are folded into the convolutions.
struct Resnet {
  std::vector<int> blocks;
  bool bottlenecks = false, running = false;
};

template <class T>
Rows<T> resnet(const Resnet& net, const Weights<T>& w, Batch<T> x) {
  const auto conv = [&](const std::string& block, const std::string& name, const std::string& norm,
                        const Batch<T>& in, std::int64_t kernel, std::int64_t stride) {
    Batch<T> y = convolution(w, block + name, in, kernel, stride, kernel / 2);
    return w.contains(block + norm + ".weight")
               ? batchnorm(w, block + norm, std::move(y), net.running)
               : y;
  };
  x = max_pool(relu(conv("", "conv1", "bn1", x, 7, 2)), 3, 2, 1);
  for (std::size_t stage = 0; stage < net.blocks.size(); ++stage)
    for (int i = 0; i < net.blocks[stage]; ++i) {
      const std::string name = "layer" + std::to_string(stage + 1) + "." + std::to_string(i) + ".";
      const std::int64_t stride = stage > 0 && i == 0 ? 2 : 1;
      Batch<T> y;
      if (net.bottlenecks) {
        y = relu(conv(name, "conv1", "bn1", x, 1, 1));
        y = relu(conv(name, "conv2", "bn2", y, 3, stride));
        y = conv(name, "conv3", "bn3", y, 1, 1);
      } else {
        y = relu(conv(name, "conv1", "bn1", x, 3, stride));
        y = conv(name, "conv2", "bn2", y, 3, 1);
      }
      const bool projected = w.contains(name + "downsample.0.weight");
      x = relu(add(std::move(y),
                   projected ? conv(name, "downsample.0", "downsample.1", x, 1, stride) : x));
    }
  return rows(dense(w, "fc", global_average(std::move(x))));
}

template <class T>
Rows<T> alexnet(const Weights<T>& w, Batch<T> x) {
  x = max_pool(relu(convolution(w, "features.0", std::move(x), 11, 4, 2)), 3, 2, 0);
  x = max_pool(relu(convolution(w, "features.3", std::move(x), 5, 1, 2)), 3, 2, 0);
  for (const char* name : {"features.6", "features.8", "features.10"})
    x = relu(convolution(w, name, std::move(x), 3, 1, 1));
  x = max_pool(std::move(x), 3, 2, 0);
  x = relu(dense(w, "classifier.1", std::move(x)));
  x = relu(dense(w, "classifier.4", std::move(x)));
  return rows(dense(w, "classifier.6", std::move(x)));
}

} // namespace kg::test::reference
