// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/models/cases.h"

#include "models/execution.h"
#include "models/initial_values.h"
#include "perf/judge/row.h"
#include "perf/judge/statistics.h"
#include "perf/measure/canary.h"
#include "perf/measure/source_folder.h"
#include "runtime/memory.h"
#include "runtime/preconditions.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <map>
#include <string_view>

namespace kg::perf {
namespace {

using models::Phase;

constexpr int kSchema = 1;
constexpr const char* kWhole = "whole";

judge::ExactTable make_memory_table() {
  judge::ExactTable table;
  table.keys = {"case", "phase"};
  table.quantities = {
      {"peak_bytes", judge::Better::lower, "something lives longer, or an operation asks for more"},
      {"calls", judge::Better::lower, "operations that were one are several"},
      {"bytes", judge::Better::lower, "operations read or write again what one could have kept"},
      {"flops", judge::Better::lower, "something is computed twice"}};
  table.schema = {"model", kSchema, {{"case", judge::an_id, true}, {"phase", judge::an_id, true}}};
  for (const judge::Quantity& quantity : table.quantities)
    table.schema.columns.push_back({quantity.name, judge::a_number_from_zero});
  table.schema.columns.push_back({"why", judge::any_text});
  table.file_is_op = false;
  table.filter = [](const std::vector<std::string>& key) { return "--case " + key[0]; };
  return table;
}

// The maximum number of bytes live at once in the steps of a phase.
std::int64_t most_live(const models::Tape& tape, Phase phase) {
  const std::vector<models::Lifetime> lifetimes = tape.lifetimes();
  std::int64_t most = 0;
  for (std::size_t step = 0; step < tape.steps().size(); ++step) {
    if (tape.steps()[step].phase != phase) continue;
    const auto now = static_cast<std::int64_t>(step);
    std::int64_t live = 0;
    for (const models::Lifetime& each : lifetimes)
      if (each.first <= now && now <= each.last)
        live += div_up(each.bytes, models::kAlignment) * models::kAlignment;
    most = std::max(most, live);
  }
  return most;
}

// A model's phases in their order, and how often each runs.
std::vector<std::pair<Phase, std::int64_t>> phases_of(const models::Model& model) {
  std::vector<std::pair<Phase, std::int64_t>> phases = {{Phase::forward, 1}};
  if (model.loss.exists()) phases.insert(phases.end(), {{Phase::backward, 1}, {Phase::update, 1}});
  if (model.decodes > 0) phases.emplace_back(Phase::decode, model.decodes);
  return phases;
}

judge::ExactMeasured row(std::vector<std::string> key, std::vector<double> values) {
  judge::ExactMeasured row;
  row.row.key = std::move(key);
  row.row.values = std::move(values);
  return row;
}

judge::ExactRows planned(const std::string& id, const models::Model& model) {
  judge::ExactRows rows;
  // In the order of the table.
  std::vector<double> whole = {static_cast<double>(models::place(model.tape.lifetimes()).bytes), 0,
                               0, 0};
  for (const auto& [phase, runs] : phases_of(model)) {
    std::vector<double> values = {static_cast<double>(most_live(model.tape, phase)), 0, 0, 0};
    for (const models::Step& step : model.tape.steps())
      if (step.phase == phase) {
        values[1] += 1;
        values[2] += step.work.bytes;
        values[3] += step.work.flops;
      }
    for (std::size_t i = 1; i < whole.size(); ++i)
      whole[i] += static_cast<double>(runs) * values[i];
    rows.push_back(row({id, models::name(phase)}, std::move(values)));
  }
  rows.push_back(row({id, kWhole}, std::move(whole)));
  return rows;
}

bool all_finite(const std::vector<float>& values) {
  return std::all_of(values.begin(), values.end(), [](float each) { return std::isfinite(each); });
}

double nanoseconds(Stream& stream, std::int64_t runs, const std::function<void()>& run) {
  const auto begin = std::chrono::steady_clock::now();
  for (std::int64_t i = 0; i < runs; ++i) run();
  stream.synchronize();
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count();
}

// The samples of each phase and of all together, and of a canary after them.
struct Samples {
  std::map<std::string, std::vector<double>> ns;
  std::vector<double> canary_ns;
};
Samples samples(const models::Model& model, models::Execution& execution, int runs) {
  Samples samples;
  Stream& stream = execution.stream();
  for (int run = -1; run < runs; ++run) {
    double whole = 0;
    for (const auto& [phase, times] : phases_of(model)) {
      const double ns = nanoseconds(stream, times, [&, now = phase] { execution.run(now); });
      whole += ns;
      if (run >= 0) samples.ns[models::name(phase)].push_back(ns / static_cast<double>(times));
    }
    if (run >= 0) samples.ns[kWhole].push_back(whole);
  }
  execution.check_memory(); // before the canary allocates memory
  Canary canary(Bound::memory, stream);
  for (int run = -1; run < runs; ++run) {
    const double ns = nanoseconds(stream, 1, [&] { canary.run(stream); });
    if (run >= 0) samples.canary_ns.push_back(ns / canary.launches());
  }
  canary.check(stream);
  return samples;
}

} // namespace

const judge::ExactTable& memory_table() {
  static const judge::ExactTable table = make_memory_table();
  return table;
}

ModelFigures figures(const Spec& spec, int runs) {
  constexpr std::uint64_t kSeed = 20260117;
  models::Model model = made(spec);
  const std::string id = case_id(spec);
  ModelFigures figures{planned(id, model), {}};
  if (runs == 0) return figures;

  Stream stream;
  models::Execution execution(std::move(model.tape), stream);
  models::initialise(execution, kSeed);
  model.fill_inputs(execution, kSeed);
  const Samples taken = samples(model, execution, runs);
  const bool right = all_finite(execution.read(model.output)) &&
                     (!model.loss.exists() || all_finite(execution.read(model.loss)));
  for (const judge::ExactMeasured& planned : figures.memory) {
    judge::Measured measured;
    measured.op = "model";
    measured.dtype = std::string(name(spec.dtype));
    measured.key = {id, planned.row.key[1], judge::Mode::real};
    measured.category = "model";
    measured.bytes = planned.row.values[2];
    measured.flops = planned.row.values[3];
    measured.peak_bytes = planned.row.values[0];
    if (!right) measured.verified = "an output or the loss is not a number";
    judge::take_samples(measured, taken.ns.at(planned.row.key[1]));
    measured.canary = judge::measured_canary(judge::CanaryKind::memory, taken.canary_ns);
    figures.times.push_back(std::move(measured));
  }
  return figures;
}

std::filesystem::path model_configs() {
  return source_folder(KERNELGRADE_SOURCE_DIR) / "kernels" / "models" / "configs";
}

// G2 (batch 1, 2, 4 x sequence 128, 256, 512 of Qwen2.5-0.5B) is planned at full size everywhere. A
// CPU runs the same grid of the reduced model with sequences eight times shorter.
std::vector<ModelCase> model_cases(const std::filesystem::path& configs) {
  std::vector<ModelCase> cases;
  const auto grid = [&](const char* config, std::int64_t shorter, bool large) {
    for (const std::int64_t batch : {1, 2, 4})
      for (const std::int64_t sequence : {128, 256, 512})
        for (const bool training : {false, true})
          cases.push_back({{.name = "transformer",
                            .config = configs / config,
                            .batch = batch,
                            .sequence = sequence / shorter,
                            .training = training},
                           large});
    cases.push_back({{.name = "transformer",
                      .config = configs / config,
                      .batch = 1,
                      .sequence = 128 / shorter,
                      .generate = 128 / shorter},
                     large});
  };
  grid("reduced.json", 8, false);
  grid("qwen2.5-0.5b.json", 1, true);
  for (const bool large : {false, true})
    for (const bool training : {false, true})
      cases.push_back({{.name = "transformer",
                        .config = configs / (large ? "gpt2.json" : "gpt2-reduced.json"),
                        .batch = 1,
                        .sequence = large ? 512 : 32,
                        .training = training},
                       large});
  for (const bool training : {false, true}) {
    cases.push_back(
        {{.name = "mlp", .mlp = {.dim = 64, .layers = 4}, .batch = 32, .training = training},
         false});
    cases.push_back(
        {{.name = "mlp", .mlp = {.dim = 256, .layers = 4}, .batch = 256, .training = training},
         true});
  }
  for (const bool training : {false, true})
    for (const bool large : {false, true})
      cases.push_back({{.name = "transformer",
                        .config = configs / (large ? "qwen2.5-0.5b.json" : "reduced.json"),
                        .batch = 1,
                        .sequence = large ? 512 : 32,
                        .dtype = Dtype::bf16,
                        .training = training},
                       large});
  cases.push_back({{.name = "mlp",
                    .mlp = {.dim = 48, .layers = 4},
                    .batch = 32,
                    .dtype = Dtype::f16,
                    .training = true},
                   false});
  cases.push_back({{.name = "resnet50", .batch = 8, .dtype = Dtype::bf16, .training = true}, true});
  for (const bool training : {false, true}) {
    // With two images of 32 x 32, the last batchnorms would have two values, dominated by rounding.
    cases.push_back({{.name = "resnet18",
                      .batch = training ? 2 : 1,
                      .size = training ? 64 : 32,
                      .training = training},
                     false});
    for (const char* name : {"resnet50", "alexnet"}) // the protocol of J1
      cases.push_back({{.name = name, .batch = 8, .training = training}, true});
  }
  return cases;
}

} // namespace kg::perf
