// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "models/initial_values.h"
#include "models/layers.h"
#include "models/model.h"
#include "runtime/error.h"

#include <cmath>
#include <utility>

namespace kg::models {
namespace {

Tensor layer(Tape& tape, Tensor x, std::int64_t dim, std::int64_t number) {
  const std::string name = "layers." + std::to_string(number);
  const Layer here(tape, name);
  // 1 / sqrt(dim), the default of PyTorch's nn.Linear.
  const double spread = 1 / std::sqrt(static_cast<double>(dim));
  const Tensor w = weight(tape, {{name + ".weight", dim}}, dim, spread, x.dtype);
  const Tensor b = vector(tape, {{name + ".bias", dim}}, 0, spread, x.dtype);
  return bias_gelu(tape, linear(tape, x, w), b);
}

} // namespace

Model mlp(const MlpConfig& config, Purpose purpose) {
  require(config.dim > 0 && config.layers > 0 && config.batch > 0,
          "mlp: dim, layers and batch must be above 0");
  Model model{.name = "mlp"};
  model.item = "samples";
  model.items = config.batch;
  Tape& tape = model.tape;

  const Tensor input = tape.input("x", config.batch, config.dim, config.dtype);
  Tensor x = input;
  for (std::int64_t i = 0; i < config.layers; ++i) x = layer(tape, x, config.dim, i);
  tape.keep(model.output = x);

  Tensor target;
  if (purpose == Purpose::training) {
    const Layer here(tape, "loss");
    target = tape.input("target", config.batch, config.dim, config.dtype);
    tape.keep(model.loss = mean_square_error(tape, x, target));
    tape.backward();
    optimise(tape, optimizer::Kind::adamw,
             {.rate = 1e-3, .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8, .decay = 0.01});
  }
  model.fill_inputs = [input, target](Execution& execution, std::uint64_t seed) {
    for (const Tensor& each : {input, target}) {
      if (!each.exists()) continue;
      execution.write(each, uniform(seed, execution.tape().name(each), each.size(), 0, 1));
    }
  };
  return model;
}

} // namespace kg::models
