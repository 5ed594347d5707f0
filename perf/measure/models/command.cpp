// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// kernelgrade model list|run|compare|scaling|gate|export|measure.
#include "perf/measure/models/command.h"
#include "perf/judge/reason.h"

#include "models/initial_values.h"
#include "models/safetensors.h"
#include "models/weights.h"
#include "perf/format/help_page.h"
#include "perf/measure/models/cases.h"
#include "perf/measure/models/chosen.h"
#include "perf/measure/models/compare.h"
#include "perf/measure/models/exported.h"
#include "perf/measure/models/gate.h"
#include "perf/measure/models/measure.h"
#include "perf/measure/models/measured.h"
#include "perf/measure/models/scaling.h"
#include "perf/measure/models/spec.h"
#include "perf/measure/source_folder.h"
#include "runtime/atomic_file.h"
#include "runtime/device.h"
#include "runtime/environment.h"
#include "runtime/error.h"
#include "runtime/without_places.h"

#include <CLI/CLI.hpp>
#include <exception>
#include <fmt/format.h>
#include <optional>
#include <ostream>

namespace kg::perf {
namespace {

constexpr int kExitPass = 0, kExitFail = 1, kExitUsage = 2, kExitSkipped = 77;

struct Options {
  Spec model;
  int steps = 0; // training steps; 0: inference
  int warm_up = 1, runs = 3;
  std::uint64_t seed = 20260117;
  std::string weights, load, outputs, json;
  std::string first, second; // compare
  double most = 1e-5;
  int scaled_to = 5;              // scaling
  std::vector<std::string> words; // export
  std::filesystem::path folder;
  GateCall gate;
  MeasureCall measured;
};

// Data that another implementation needs to repeat and compare the computation: inputs, the first
// forward pass's output, the generated tokens, and each training step's loss.
class Outputs {
 public:
  void add(const models::Execution& execution, const models::Model& model, const Spec& spec) {
    arrays_ = inputs_of(execution, spec);
    arrays_.push_back(
        {"output", {model.output.rows, model.output.cols}, execution.read(model.output)});
  }
  void write(const std::filesystem::path& file, const std::vector<double>& losses) {
    if (!losses.empty())
      arrays_.push_back({"losses",
                         {static_cast<std::int64_t>(losses.size())},
                         std::vector<float>(losses.begin(), losses.end())});
    models::write_safetensors(file, arrays_);
  }

 private:
  std::vector<models::NamedArray> arrays_;
};

std::optional<int> exit_without_device(std::ostream& err) {
  const std::string missing = device_unavailable_reason();
  if (missing.empty()) return std::nullopt;
  const bool promised = is_set("KERNELGRADE_REQUIRE_GPU") || is_set("KERNELGRADE_STRICT");
  err << fmt::format("{}: {}\n", promised ? "failed" : "skipped, no GPU", missing);
  return promised ? kExitFail : kExitSkipped;
}

int run(Options options, std::ostream& out, std::ostream& err) {
  options.model.training = options.steps > 0;
  if (const auto exit = exit_without_device(err)) return *exit;
  Stream stream;
  models::Model model = made(options.model);
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
    outputs.add(execution, model, options.model);
  }
  ModelTimes times = measure(model, execution, {options.warm_up, options.runs, options.steps});
  times.config = about(options.model);
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
  const ScalingBase base{options.model.mlp, options.steps};
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
  run->add_option("name", options.model.name, "the model")
      ->required()
      ->check(
          CLI::IsMember({"mlp", "transformer", "resnet18", "resnet50", "resnet101", "alexnet"}));
  run->add_option("--config", options.model.config,
                  "transformer: the file with its sizes (config.json of Hugging Face)")
      ->check(CLI::ExistingFile);
  run->add_option("--batch", options.model.batch, "number of sequences, samples or images")
      ->check(extent);
  run->add_option("--sequence", options.model.sequence, "transformer: tokens of each sequence")
      ->check(extent);
  run->add_option("--dim", options.model.mlp.dim, "mlp: features of each layer")->check(extent);
  run->add_option("--layers", options.model.mlp.layers, "mlp: number of layers")->check(extent);
  run->add_option("--size", options.model.size, "images: pixels of each side")->check(extent);
  run->add_option("--layout", options.model.layout, "images: layout of the tensors")
      ->transform(CLI::CheckedTransformer(
          std::map<std::string, Layout>{{"nhwc", Layout::nhwc}, {"nchw", Layout::nchw}}));
  run->add_option(
         "--batchnorms", options.model.batchnorms,
         "images, inference: fold them into the convolutions, or use running statistics as in "
         "torchvision's files")
      ->transform(CLI::CheckedTransformer(std::map<std::string, models::Batchnorms>{
          {"folded", models::Batchnorms::folded}, {"running", models::Batchnorms::running}}));
  run->add_option("--dtype", options.model.dtype, "type of parameters and activations")
      ->transform(CLI::CheckedTransformer(std::map<std::string, Dtype>{
          {"f32", Dtype::f32}, {"bf16", Dtype::bf16}, {"f16", Dtype::f16}}));
  run->add_option("--steps", options.steps, "training steps; 0: inference only")
      ->check(CLI::Range(0, 100000));
  run->add_option("--generate", options.model.generate,
                  "transformer: generate N tokens after each prompt of --sequence tokens")
      ->check(CLI::Range(std::int64_t{2}, std::int64_t{1} << 20));
  run->add_option("--warm-up", options.warm_up, "untimed runs before the timed ones")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  run->add_option("--runs", options.runs, "timed runs")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  run->add_option("--seed", options.seed, "random seed of weights and inputs")
      ->capture_default_str();
  run->add_option("--weights", options.load, "load the weights from this safetensors file")
      ->check(CLI::ExistingFile);
  run->add_option("--save-weights", options.weights, "write the initial weights to this file")
      ->type_name("FILE");
  run->add_option("--save-outputs", options.outputs,
                  "write inputs, output and losses to this file, for `compare`")
      ->type_name("FILE");
  run->add_option("--json", options.json, "write all times to this file")->type_name("FILE");
}

void add_compare(CLI::App& app, Options& options) {
  CLI::App* compare = app.add_subcommand(
      "compare", "compare the outputs of two implementations, and fail if they differ too much");
  compare->add_option("first", options.first, "a file of --save-outputs")->required();
  compare->add_option("second", options.second, "the same file of another implementation")
      ->required();
  compare
      ->add_option("--most", options.most, "the largest mean absolute error allowed for an array")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
}

void add_scaling(CLI::App& app, Options& options) {
  CLI::App* scaling = app.add_subcommand(
      "scaling", "check how an mlp's training time grows: linearly with steps, layers and batch, "
                 "quadratically with dim");
  const CLI::Range extent(std::int64_t{1}, std::int64_t{1} << 16);
  scaling
      ->add_option("--dim", options.model.mlp.dim, "features of each layer of the smallest model")
      ->check(extent);
  scaling->add_option("--layers", options.model.mlp.layers, "layers of the smallest model")
      ->check(extent);
  scaling->add_option("--batch", options.model.mlp.batch, "batch of the smallest model")
      ->check(extent);
  scaling->add_option("--steps", options.steps, "training steps of the smallest model (default: 2)")
      ->check(CLI::Range(1, 1000));
  scaling->add_option("--to", options.scaled_to, "the greatest factor")
      ->check(CLI::Range(3, 100))
      ->capture_default_str();
  scaling->add_option("--runs", options.runs, "trainings of each model; the fastest counts")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
}

void add_gate(CLI::App& app, Options& options) {
  CLI::App* gate = app.add_subcommand(
      "gate", "compare memory, work and, on a GPU, times of listed models with the baselines");
  GateCall& call = options.gate;
  gate->add_option("--case", call.part, "only cases whose id contains this text");
  gate->add_option("--runs", call.runs, "timed runs of each case")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  gate->add_flag("--full", call.full,
                 "also run models of full size on the emulator, which takes hours");
  gate->add_option("--baselines", call.baselines,
                   "folder of the baselines (default: that of the source tree)")
      ->type_name("FOLDER");
  gate->add_option("--json", call.json, "write the times to this file")->type_name("FILE");
  gate->add_option("--from", call.from,
                   "take the times from files that --json wrote in other processes")
      ->check(CLI::ExistingFile);
  gate->add_flag("--bless", call.bless, "write the baselines");
  gate->add_flag("--remove-orphans", call.remove_orphans,
                 "with --bless: drop rows whose case no longer exists");
  gate->add_option("--why", call.why, "with --bless: the reason for the change, for reviewers")
      ->type_name("TEXT");
  gate->add_option("--source-id", call.source, "with --bless: the commit, if there is no git")
      ->type_name("ID");
}

int gate_models(const Options& options, std::ostream& out, std::ostream& err) {
  if (const std::string fault = judge::fault_of_reason(options.gate.why); !fault.empty()) {
    err << fmt::format("kernelgrade model: --why {}; say in a line what changed\n", fault);
    return kExitUsage;
  }
  if (const auto exit = exit_without_device(err)) return *exit;
  return gate(options.gate, out);
}

// One id per line, and whether a CPU only plans the model.
int list(std::ostream& out) {
  for (const ModelCase& each : model_cases(model_configs()))
    out << fmt::format("{}{}\n", case_id(each.spec), each.large ? "  large" : "");
  return kExitPass;
}

void add_export(CLI::App& app, Options& options) {
  CLI::App* command = app.add_subcommand(
      "export", "write weights, inputs and expected outputs for `kernelgrade peers --op model`");
  command->add_option("--case", options.words, "ids of cases, or parts of the ids of listed cases")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->required();
  command->add_option("--folder", options.folder, "folder to write to")
      ->type_name("FOLDER")
      ->required();
}

int export_chosen(const Options& options, std::ostream& err) {
  if (const auto exit = exit_without_device(err)) return *exit;
  export_models(options.folder, chosen(options.words, model_configs()));
  return kExitPass;
}

void add_measure(CLI::App& app, Options& options) {
  CLI::App* command =
      app.add_subcommand("measure", "measure one model as a row of results, for studies");
  MeasureCall& call = options.measured;
  command->add_option("--case", call.case_id, "id of the case")->required();
  command->add_option("--variant", call.variant, "name of the row")->required();
  command->add_option("--warm-up", call.warm_up, "untimed runs before the timed ones")
      ->check(CLI::Range(1, 100000));
  command->add_option("--runs", call.runs, "timed runs")->check(CLI::Range(1, 100000));
  command->add_option("--source-id", call.source, "the commit")->type_name("ID")->required();
  command->add_option("--json", call.json, "the file to write")->type_name("FILE")->required();
  command->add_option("--trace", call.trace, "write the times of its operations to this file")
      ->type_name("FILE");
}

int measure_chosen(const Options& options, std::ostream& err) {
  if (const auto exit = exit_without_device(err)) return *exit;
  measure_model(options.measured, model_configs());
  return kExitPass;
}

int dispatch(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err) {
  Options options;
  options.model.config = model_configs() / "reduced.json";
  options.gate.baselines = source_folder(KERNELGRADE_SOURCE_DIR) / "baselines";
  CLI::App app("run whole models made of the suite's operations, and time their layers",
               "kernelgrade model");
  app.require_subcommand(1);
  app.add_subcommand(
      "list", "list the ids of the gate's cases, of which a CPU only plans those marked `large`");
  add_run(app, options);
  add_compare(app, options);
  add_scaling(app, options);
  add_gate(app, options);
  add_export(app, options);
  add_measure(app, options);
  app.set_help_flag("-h,--help", "print this help");
  app.footer("Examples:\n  kernelgrade model run resnet18 --batch 2\n  kernelgrade model gate "
             "--case mlp\n\nGuide: docs/how-to/run_a_model.md\n");
  cli::format_help(app);
  if (const auto page = cli::page_asked_for(arguments)) {
    out << cli::section(*page, app, app.get_name(), 2);
    return kExitPass;
  }
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
  if (app.got_subcommand("list")) return list(out);
  if (app.got_subcommand("measure")) return measure_chosen(options, err);
  if (app.got_subcommand("export")) return export_chosen(options, err);
  if (app.got_subcommand("gate")) return gate_models(options, out, err);
  return app.got_subcommand("run") ? run(options, out, err) : compare(options, out);
}

} // namespace

int model_command(const std::vector<std::string>& arguments, std::ostream& out, std::ostream& err) {
  try {
    return dispatch(arguments, out, err);
  } catch (const std::exception& error) {
    err << "kernelgrade model: " << without_places(error.what()) << "\n";
    return kExitFail;
  }
}

} // namespace kg::perf
