// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/models/exported.h"
#include "perf/format/named_path.h"

#include "models/initial_values.h"
#include "models/parts.h"
#include "models/weights.h"
#include "runtime/atomic_file.h"

#include <nlohmann/json.hpp>
#include <string_view>

namespace kg::perf {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

template <class T>
std::string_view bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

json write_input(const fs::path& folder, const models::NamedArray& array) {
  return std::visit(
      [&](const auto& values) -> json {
        write_file(judge::named_path(folder, "array", array.name), bytes_of(values));
        const bool whole = std::is_same_v<decltype(values[0]), const std::int32_t&>;
        return {{"name", array.name}, {"dtype", whole ? "i32" : "f32"}, {"extents", array.shape}};
      },
      array.values);
}

json given_file(const fs::path& file) {
  return {{"name", file.filename().string()},
          {"dtype", "i8"},
          {"extents", {static_cast<std::int64_t>(fs::file_size(file))}}};
}

// The output or, for training, the loss before each step and after the last one. Without the last
// loss nothing would verify the gradients of the last step.
std::vector<float> expected(const models::Model& model, models::Execution& execution,
                            const Spec& spec) {
  if (!spec.training) {
    execution.run(models::Phase::forward);
    return execution.read(model.output);
  }
  std::vector<float> losses;
  for (std::int64_t step = 0; step < spec.steps; ++step) {
    for (const models::Phase phase :
         {models::Phase::forward, models::Phase::backward, models::Phase::update})
      execution.run(phase);
    losses.push_back(execution.read(model.loss)[0]);
  }
  execution.run(models::Phase::forward);
  losses.push_back(execution.read(model.loss)[0]);
  return losses;
}

json export_model(const fs::path& root, const Spec& spec) {
  constexpr std::uint64_t kSeed = 20260117;
  const fs::path folder = root / case_id(spec);
  fs::create_directories(folder);
  Stream stream;
  models::Model model = made(spec);
  double bytes = 0, flops = 0;
  for (const models::Step& step : model.tape.steps()) {
    bytes += step.work.bytes;
    flops += step.work.flops;
  }
  models::Execution execution(std::move(model.tape), stream);
  models::initialise(execution, kSeed);
  model.fill_inputs(execution, kSeed);
  models::save_weights(execution, folder / "weights");
  json inputs = {given_file(folder / "weights")};
  if (spec.name == "transformer") {
    fs::copy_file(spec.config, folder / "config");
    inputs.push_back(given_file(folder / "config"));
  }
  for (const models::NamedArray& array : inputs_of(execution, spec))
    inputs.push_back(write_input(folder, array));
  const std::vector<float> right = expected(model, execution, spec);
  write_file(folder / "expected", bytes_of(right));
  const auto runs = static_cast<double>(spec.training ? spec.steps : 1);
  return {{"case", case_id(spec)},   {"dtype", kg::name(spec.dtype)},
          {"bytes", runs * bytes},   {"flops", runs * flops},
          {"inputs", inputs},        {"output", spec.training ? "losses" : "output"},
          {"expected", right.size()}};
}

} // namespace

std::vector<models::NamedArray> inputs_of(const models::Execution& execution, const Spec& spec) {
  std::vector<models::NamedArray> arrays;
  const models::Tape& tape = execution.tape();
  const bool channels_last = takes_images(spec) && spec.layout == Layout::nhwc;
  for (const char* name : {"x", "target"}) {
    if (!tape.has(name)) continue;
    const models::Tensor tensor = tape.named(name);
    std::vector<float> values = execution.read(tensor);
    if (channels_last) values = models::with_channels_first(values, 3, tensor.cols / 3);
    arrays.push_back({name, {tensor.rows, tensor.cols}, std::move(values)});
  }
  for (const char* name : {"tokens", "targets", "words"})
    if (tape.has(name))
      arrays.push_back({name,
                        {tape.named(name).rows, tape.named(name).cols},
                        execution.read_integers(tape.named(name))});
  return arrays;
}

void export_models(const fs::path& folder, const std::vector<Spec>& specs) {
  nlohmann::json list = nlohmann::json::array();
  for (const Spec& spec : specs) list.push_back(export_model(folder, spec));
  write_file(folder / "models.json", nlohmann::json{{"models", list}}.dump(1) + "\n");
}

} // namespace kg::perf
