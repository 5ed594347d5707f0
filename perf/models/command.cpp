// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// kernelgrade model run|compare|scaling.
#include "perf/models/command.h"

#include "models/initial_values.h"
#include "models/parts.h"
#include "models/safetensors.h"
#include "models/weights.h"
#include "perf/models/compare.h"
#include "perf/models/measure.h"
#include "perf/models/scaling.h"
#include "runtime/atomic_file.h"
#include "runtime/device.h"
#include "runtime/environment.h"
#include "runtime/error.h"

#include <CLI/CLI.hpp>
#include <exception>
#include <fmt/format.h>
#include <optional>
#include <ostream>

namespace kg::perf {
namespace {

constexpr int kExitPass = 0, kExitFail = 1, kExitUsage = 2, kExitSkipped = 77;

struct Options {
  std::string name;
  models::MlpConfig mlp;
  std::string config = KERNELGRADE_MODEL_CONFIG;
  std::int64_t batch = 1, sequence = 32, size = 224;
  std::string layout = "nhwc";
  int steps = 0;             // training steps; 0: inference
  std::int64_t generate = 0; // tokens behind each prompt
  int runs = 3;
  std::uint64_t seed = 20260117;
  std::string weights, load, outputs, json;
  std::string first, second; // compare
  double most = 1e-5;
  int scaled_to = 5; // scaling
};

// The depth of a resnet's name; of others 0.
int depth_of(const std::string& name) {
  return name.starts_with("resnet") ? std::stoi(name.substr(6)) : 0;
}

bool takes_images(const Options& options) {
  return options.name == "alexnet" || depth_of(options.name) > 0;
}

models::Model made_for_images(const Options& options) {
  require(options.steps == 0, options.name + ": there is inference alone; leave out --steps");
  models::ImageConfig config{.batch = options.batch, .size = options.size};
  if (options.layout == "nchw") config.layout = Layout::nchw;
  const int depth = depth_of(options.name);
  return depth == 0 ? models::alexnet(config) : models::resnet(depth, config);
}

bool generates(const Options& options) { return options.generate > 0; }

models::Model made_to_generate(const Options& options) {
  require(options.name == "transformer", options.name + ": it generates nothing");
  require(options.steps == 0, "--steps trains and --generate does not; leave one of them out");
  return models::generator(models::read_transformer_config(options.config),
                           {options.batch, options.sequence, options.generate})
      .model;
}

models::Model made(const Options& options) {
  if (generates(options)) return made_to_generate(options);
  const auto purpose = options.steps > 0 ? models::Purpose::training : models::Purpose::inference;
  if (takes_images(options)) return made_for_images(options);
  if (options.name == "mlp") {
    models::MlpConfig config = options.mlp;
    config.batch = options.batch;
    return models::mlp(config, purpose);
  }
  return models::transformer(models::read_transformer_config(options.config), options.batch,
                             options.sequence, purpose);
}

std::string about(const Options& options) {
  if (options.name == "mlp")
    return fmt::format(" (dim {}, {} layers, batch {})", options.mlp.dim, options.mlp.layers,
                       options.batch);
  if (takes_images(options))
    return fmt::format(" (batch {}, {} x {}, {})", options.batch, options.size, options.size,
                       options.layout);
  const std::string file = std::filesystem::path(options.config).filename().string();
  if (generates(options))
    return fmt::format(" ({}, {} prompts of {}, {} tokens generated behind each)", file,
                       options.batch, options.sequence, options.generate);
  return fmt::format(" ({}, batch {}, sequence {})", file, options.batch, options.sequence);
}

// What another implementation needs to do the same, and what it must arrive at: inputs, the first
// forward pass's output, what was generated behind it, and each training step's loss.
class Outputs {
 public:
  // Images have their channels first, whatever the layout.
  void add(const models::Execution& execution, const models::Model& model, bool channels_last) {
    const models::Tape& tape = execution.tape();
    for (const char* name : {"x", "target"})
      if (tape.has(name)) {
        std::vector<float> values = execution.read(tape.named(name));
        if (channels_last)
          values = models::with_channels_first(values, 3, tape.named(name).cols / 3);
        add(name, tape.named(name), std::move(values));
      }
    for (const char* name : {"tokens", "targets", "words"})
      if (tape.has(name)) add(name, tape.named(name), execution.read_integers(tape.named(name)));
    add("output", model.output, execution.read(model.output));
  }
  void write(const std::filesystem::path& file, const std::vector<double>& losses) {
    if (!losses.empty())
      arrays_.push_back({"losses",
                         {static_cast<std::int64_t>(losses.size())},
                         std::vector<float>(losses.begin(), losses.end())});
    models::write_safetensors(file, arrays_);
  }

 private:
  template <class T>
  void add(const char* name, models::Tensor tensor, std::vector<T> values) {
    arrays_.push_back({name, {tensor.rows, tensor.cols}, std::move(values)});
  }
  std::vector<models::NamedArray> arrays_;
};

std::optional<int> exit_without_device(std::ostream& err) {
  const std::string missing = device_unavailable_reason();
  if (missing.empty()) return std::nullopt;
  const bool promised = is_set("KERNELGRADE_REQUIRE_GPU") || is_set("KERNELGRADE_STRICT");
  err << fmt::format("{}: {}\n", promised ? "failed" : "skipped, no GPU", missing);
  return promised ? kExitFail : kExitSkipped;
}

int run(const Options& options, std::ostream& out, std::ostream& err) {
  if (const auto exit = exit_without_device(err)) return *exit;
  Stream stream;
  models::Model model = made(options);
  models::Execution execution(std::move(model.tape), stream);
  if (options.load.empty()) {
    models::initialise(execution, options.seed);
  } else {
    models::load_weights(execution, options.load);
  }
  model.fill_inputs(execution, options.seed);
  if (!options.weights.empty()) models::save_weights(execution, options.weights);
  Outputs outputs;
  if (!options.outputs.empty()) {
    execution.run(models::Phase::forward);
    for (std::int64_t i = 0; i < model.decodes; ++i) execution.run(models::Phase::decode);
    outputs.add(execution, model, takes_images(options) && options.layout == "nhwc");
  }
  ModelTimes times = measure(model, execution, options.runs, options.steps);
  times.config = about(options);
  if (!options.outputs.empty()) outputs.write(options.outputs, times.losses);
  if (!options.json.empty()) write_file(options.json, json(times));
  out << text(times);
  return kExitPass;
}

int compare(const Options& options, std::ostream& out) {
  const std::vector<ArrayDistance> apart = distances(options.first, options.second);
  out << text(apart, options.most);
  return within(apart, options.most) ? kExitPass : kExitFail;
}

int scaling(const Options& options, std::ostream& out, std::ostream& err) {
  if (const auto exit = exit_without_device(err)) return *exit;
  const ScalingBase base{options.mlp, options.steps};
  const auto time = [&](const ScalingBase& what) { return time_of_training(what, options.runs); };
  const std::vector<Scaled> all = scale(base, options.scaled_to, time);
  out << fmt::format("mlp: dim {}, {} layers, batch {}, {} steps; each scaled by 1 to {}\n{}",
                     base.mlp.dim, base.mlp.layers, base.mlp.batch, base.steps, options.scaled_to,
                     text(all));
  return exit_code(all);
}

void add_run(CLI::App& app, Options& options) {
  CLI::App* run = app.add_subcommand("run", "run a model and time its layers and operations");
  const CLI::Range extent(std::int64_t{1}, std::int64_t{1} << 20);
  run->add_option("name", options.name, "the model")
      ->required()
      ->check(
          CLI::IsMember({"mlp", "transformer", "resnet18", "resnet50", "resnet101", "alexnet"}));
  run->add_option("--config", options.config,
                  "transformer: the file with its sizes (config.json of Hugging Face)")
      ->check(CLI::ExistingFile);
  run->add_option("--batch", options.batch, "sequences, samples or images")->check(extent);
  run->add_option("--sequence", options.sequence, "transformer: tokens of each sequence")
      ->check(extent);
  run->add_option("--dim", options.mlp.dim, "mlp: features of each layer")->check(extent);
  run->add_option("--layers", options.mlp.layers, "mlp: layers")->check(extent);
  run->add_option("--size", options.size, "of images: pixels of each side")->check(extent);
  run->add_option("--layout", options.layout, "of images: nhwc or nchw")
      ->check(CLI::IsMember({"nhwc", "nchw"}));
  run->add_option("--steps", options.steps, "training steps; 0: inference alone")
      ->check(CLI::Range(0, 100000));
  run->add_option("--generate", options.generate,
                  "transformer: so many tokens behind each prompt of --sequence tokens")
      ->check(CLI::Range(std::int64_t{2}, std::int64_t{1} << 20));
  run->add_option("--runs", options.runs, "timed runs, after one that warms up")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  run->add_option("--seed", options.seed, "of weights and inputs")->capture_default_str();
  run->add_option("--weights", options.load, "take the weights from this safetensors file")
      ->check(CLI::ExistingFile);
  run->add_option("--save-weights", options.weights, "write the first weights to this file");
  run->add_option("--save-outputs", options.outputs,
                  "write inputs, output and losses to this file, for `compare`");
  run->add_option("--json", options.json, "write all times to this file");
}

void add_compare(CLI::App& app, Options& options) {
  CLI::App* compare = app.add_subcommand(
      "compare", "how far the outputs of two implementations are apart; fails where too far");
  compare->add_option("first", options.first, "a file of --save-outputs")->required();
  compare->add_option("second", options.second, "one of another implementation")->required();
  compare->add_option("--most", options.most, "the greatest mean absolute error of an array")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
}

void add_scaling(CLI::App& app, Options& options) {
  CLI::App* scaling = app.add_subcommand(
      "scaling", "how an mlp's training time grows with steps, layers, batch and dim; fails where "
                 "not linearly, of dim quadratically");
  const CLI::Range extent(std::int64_t{1}, std::int64_t{1} << 16);
  scaling->add_option("--dim", options.mlp.dim, "of the smallest")->check(extent);
  scaling->add_option("--layers", options.mlp.layers, "of the smallest")->check(extent);
  scaling->add_option("--batch", options.mlp.batch, "of the smallest")->check(extent);
  scaling->add_option("--steps", options.steps, "of the smallest; 2 unless said otherwise")
      ->check(CLI::Range(1, 1000));
  scaling->add_option("--to", options.scaled_to, "the greatest factor")
      ->check(CLI::Range(3, 100))
      ->capture_default_str();
  scaling->add_option("--runs", options.runs, "trainings of each, of which the fastest counts")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
}

int dispatch(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err) {
  Options options;
  CLI::App app("Whole models, composed of this suite's operations.", "kernelgrade model");
  app.require_subcommand(1);
  add_run(app, options);
  add_compare(app, options);
  add_scaling(app, options);
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend())); // CLI11: last first
  } catch (const CLI::CallForHelp&) {
    const auto commands = app.get_subcommands();
    out << (commands.empty() ? app.help() : commands.front()->help("kernelgrade model"));
    return kExitPass;
  } catch (const CLI::ParseError& error) {
    err << fmt::format("kernelgrade model: {}; see --help\n", error.what());
    return kExitUsage;
  }
  if (app.got_subcommand("scaling")) {
    if (options.steps == 0) options.steps = 2;
    return scaling(options, out, err);
  }
  return app.got_subcommand("run") ? run(options, out, err) : compare(options, out);
}

} // namespace

int model_command(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err) {
  try {
    return dispatch(arguments, out, err);
  } catch (const std::exception& error) {
    err << "kernelgrade model: " << error.what() << "\n";
    return kExitFail;
  }
}

} // namespace kg::perf
