// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/lab/study/models.h"

#include "perf/lab/study/settings.h"
#include "runtime/backend.h"
#include "runtime/error.h"

#include <array>
#include <cstdint>
#include <fmt/format.h>

namespace kg::study {
namespace {

constexpr bool kEmulated = backend == Backend::host;

// On a CPU one run of the executor takes as long as a thousand runs of a GPU.
const Setting kWarmUp = {"warm-up", kEmulated ? "1" : "10",
                         "untimed runs of Kernelgrade's model before the timed ones"};
Setting runs(const char* usual) {
  return {"runs", kEmulated ? "8" : usual,
          "timed runs of Kernelgrade's model; frameworks choose their own number"};
}

} // namespace

// Dim, layers, batch and steps, each scaled separately; every group begins with the base.
Study mlp() {
  Study study;
  study.name = "mlp";
  study.text = "trains an mlp. Its time must grow as steps, layers, batch and the square of dim";
  study.axis = "times the base";
  study.settings = {{"dim", kEmulated ? "64" : "256", "base model: features of each layer"},
                    {"layers", "4", "base model: number of layers"},
                    {"batch", kEmulated ? "64" : "256", "base model: number of samples"},
                    {"steps", "2", "base model: training steps (forward, backward and AdamW)"},
                    {"to", "5", "the largest factor, at least 3"},
                    kWarmUp,
                    runs("30")};
  study.scaling = Scaling{1, kShareOfTheory, true};
  study.group_scaling = {{"dim", {2, 2 * kShareOfTheory, true}}};
  study.points = [](const Settings& settings) {
    constexpr std::array<const char*, 4> kAxes = {"steps", "layers", "batch", "dim"};
    const std::int64_t to = number(settings, "to");
    require(to >= 3, "--to: an exponent needs three sizes");
    std::vector<Point> points;
    for (const char* axis : kAxes)
      for (std::int64_t factor = 1; factor <= to; ++factor) {
        const auto scaled = [&](const char* name) {
          return number(settings, name) * (std::string(name) == axis ? factor : 1);
        };
        std::string id = fmt::format("{}.f32.mlp_dim{}_layers{}_batch{}_training", kModel,
                                     scaled("dim"), scaled("layers"), scaled("batch"));
        if (scaled("steps") > 1) id += fmt::format("_steps{}", scaled("steps"));
        points.push_back(
            {id, fmt::format("{} {}", axis, scaled(axis)), axis, static_cast<double>(factor)});
      }
    return points;
  };
  return study;
}

// A row names the network that ran: its case id is derived from what was built.
Study fps() {
  Study study;
  study.name = "fps";
  study.text = "classifies images by whole networks: images per second";
  study.axis = "network";
  study.items = "images";
  study.settings = {
      {"network", "alexnet,resnet50", "networks: alexnet, resnet18, resnet50, resnet101"},
      {"batch", kEmulated ? "1" : "8", "images of a run; a list measures several batches"},
      {"size", "224", "height and width of an image"},
      kWarmUp,
      runs("100")};
  study.points = [](const Settings& settings) {
    const std::int64_t size = number(settings, "size");
    std::vector<Point> points;
    for (const std::string& network : words(settings, "network"))
      for (const std::int64_t batch : numbers(settings, "batch"))
        points.push_back(
            {fmt::format("{}.f32.{}_batch{}_size{}_nhwc_inference", kModel, network, batch, size),
             fmt::format("{}, {} x 3x{}x{}", network, batch, size, size), network,
             static_cast<double>(batch), fmt::format("{}x1000", batch)});
    if (points.empty()) throw Error("--network: name one");
    return points;
  };
  return study;
}

} // namespace kg::study
