// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/cli/options.h"
#include "perf/judge/reason.h"
#include "perf/measure/injection.h"
#include "perf/measure/turns.h"

#include "perf/cli/command_options.h"
#include "perf/cli/help.h"
#include "perf/cli/row_options.h"
#include "perf/format/nearest.h"
#include "perf/judge/command.h"
#include "perf/judge/limits.h"
#include "runtime/backend.h"
#include "runtime/device.h"
#include "runtime/environment.h"
#include "runtime/schedule.h"
#include "tests/oracle/random.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <regex>

namespace kg::cli {
namespace {

constexpr auto kBlessProcesses = static_cast<int>(
    judge::limits(backend == Backend::host ? judge::Device::host : judge::Device::gpu)
        .bless_processes);

constexpr int kGateProcesses = 3; // the smallest number whose spread is not due to a single process

// CLI11 reports a request for help as an exception, like errors.
bool asks_for_help(const CLI::ParseError& error) {
  return error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success);
}

// Advice for the first of these words that is a CUDA file; "" if none is.
std::string file_advice(const std::vector<std::string>& words, bool costs) {
  const auto file = std::find_if(words.begin(), words.end(),
                                 [](const std::string& word) { return word.ends_with(".cu"); });
  if (file == words.end()) return "";
  return fmt::format(
      "{}: this command takes operations, not files; for a program of your own use {}", *file,
      judge::command((costs ? "check --costs " : "check ") + *file));
}

// Settings from the environment. All are checked before anything runs: an invalid seed must not
// look like a wrong result of the first row that uses it.
void read_environment(Options& options) {
  try {
    require_switches();
    perf::injection_here();
    perf::turn_here();
    options.strict = is_set("KERNELGRADE_STRICT") || options.strict;
    options.require_gpu = is_set("KERNELGRADE_REQUIRE_GPU");
    // Not an option, so that an older build that does not know it still measures, only longer.
    if (is_set("KERNELGRADE_BRIEF")) options.pace = perf::Pace::brief;
    const char* const seed = std::getenv("KERNELGRADE_SEED");
    test::parse_seed(seed ? seed : "");
    schedule();
    if constexpr (backend == Backend::host) device_properties();
  } catch (const Error& error) {
    throw UsageError(error.what());
  }
}

// An unreadable reason is rejected: reviewers of the baselines would see an empty field.
void require_reason(const Options& options) {
  if (const std::string fault = judge::fault_of_reason(options.bless.why); !fault.empty())
    throw UsageError(fmt::format("--why {}; say in a line what changed", fault));
}

// Whether rows that look slower are measured next to their reference: nothing else is built unless
// requested. `word` is from the command line, where CLI11 has checked it; not every version of
// CLI11 checks values from the environment.
bool confirms(const std::string& word) {
  if (!word.empty()) return word == "auto";
  const char* const variable = std::getenv("KERNELGRADE_CONFIRM");
  const std::string value = variable ? variable : "";
  if (!value.empty() && value != "auto" && value != "never")
    throw UsageError(
        fmt::format("KERNELGRADE_CONFIRM is \"{}\"; set it to auto or never, or unset it", value));
  return value == "auto";
}

// The problem of a command line without a known command. CLI11 would only say that one is required.
std::string command_needed(CLI::App& app, const std::vector<std::string>& arguments) {
  std::vector<std::string> commands;
  for (const CLI::App* command : app.get_subcommands(nullptr))
    commands.push_back(command->get_name());
  const std::string list = fmt::format("he commands are {}; see --help", fmt::join(commands, ", "));
  const auto word = std::find_if(arguments.begin(), arguments.end(),
                                 [](const std::string& each) { return !each.starts_with('-'); });
  if (word == arguments.end()) return "name a command; t" + list;
  const std::string meant = nearest(*word, commands);
  constexpr std::size_t kShown = 40; // a long word must not hide the list
  return fmt::format("unknown command '{}{}'; {}{}", word->substr(0, kShown),
                     word->size() > kShown ? "..." : "",
                     meant.empty() ? "t" : "did you mean " + meant + "? T", list);
}

// An empty word is an unset variable in a script: treated like a missing option, it would select
// everything.
void require_words(const CLI::App& command) {
  for (const CLI::Option* option : command.get_options())
    for (const std::string& word : option->results())
      if (word.empty() && option->get_expected_min() > 0)
        throw UsageError(fmt::format("{}: its word is empty; give one, or leave the option out",
                                     option->get_name()));
}

// Comparing with a missing folder would look like a device that was never blessed, or a build
// without nvcc: all rows skipped. Commands that write baselines create their folder.
void require_folders(const CLI::App& command, const Options& options) {
  const auto require_there = [&](const char* name, const std::filesystem::path& folder,
                                 const char* instead) {
    const CLI::Option* given = command.get_option_no_throw(name);
    if (!given || given->empty() || std::filesystem::is_directory(folder)) return;
    throw UsageError(fmt::format("{} {}: no such folder; name {}, or leave the option out", name,
                                 folder.string(), instead));
  };
  const bool writes = options.command == "bless" || options.bless.resources || options.write;
  if (!writes) require_there("--baselines", options.baselines, "one that was blessed");
  require_there("--compiled", options.compiled, "that of a build's compiled kernels");
}

ShardOption shard_of(const Words& words) {
  if (words.options.command == "bless")
    throw UsageError(
        "bless: --shard: a baseline file is measured whole and on one machine; bless by "
        "--op, or bless everything");
  static const std::regex kForm("([1-9][0-9]{0,5})/([1-9][0-9]{0,5})");
  std::smatch numbers;
  if (!std::regex_match(words.shard, numbers, kForm))
    throw UsageError(fmt::format("--shard {}: write I/N, as in 2/4", words.shard));
  const ShardOption shard{std::stoul(numbers[1]), std::stoul(numbers[2])};
  if (shard.index > shard.count)
    throw UsageError(fmt::format("--shard {}: there are shards 1 to {}", words.shard, shard.count));
  return shard;
}

} // namespace

Parsed parse(const std::vector<std::string>& arguments, const std::filesystem::path& baselines) {
  Words words;
  words.options.baselines = baselines;
  CLI::App app(
      "Kernelgrade tests CUDA kernels, measures them and gates changes. Exit codes: 0 passed, "
      "1 failed, 2 usage error, 77 skipped.",
      "kernelgrade");
  app.require_subcommand(1);
  app.fallthrough(); // options after a command may be global ones
  app.add_flag("--ascii", words.options.ascii, "use ASCII characters only");
  app.set_version_flag(
      "--version", fmt::format("kernelgrade {}, {} backend", KERNELGRADE_VERSION, name(backend)),
      "print the version and the backend");
  app.set_help_flag("-h,--help", "print this help");
  bool as_page = false;
  app.add_flag("--help-markdown", as_page, "print the help of all commands as Markdown");
  app.add_flag("--help-man", as_page, "print the help of all commands as a manual page");
  add_commands(app, words);
  describe(app);
  if (!arguments.empty() && arguments.front() == "help")
    return {{}, Help{help_text(app, {arguments.begin() + 1, arguments.end()})}};
  if (const auto page = page_asked_for(arguments)) return {{}, Help{help_page(app, *page)}};
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend())); // in CLI11's order
  } catch (const CLI::CallForVersion& version) {
    return {{}, Help{fmt::format("{}\n", version.what())}};
  } catch (const CLI::ParseError& error) {
    const auto commands = app.get_subcommands();
    if (!asks_for_help(error) && commands.empty()) throw UsageError(command_needed(app, arguments));
    const bool costs = std::find(arguments.begin(), arguments.end(), "--cost") != arguments.end();
    if (const std::string advice = file_advice(arguments, costs);
        error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError) && !advice.empty())
      throw UsageError(advice);
    if (!asks_for_help(error)) throw UsageError(fmt::format("{}; see --help", error.what()));
    return {{}, Help{app.help()}};
  }
  if (as_page)
    throw UsageError("--help-markdown and --help-man: give one alone; it prints the help of all "
                     "commands");
  Options& options = words.options;
  if (options.in_process && words.processes > 1)
    throw UsageError("--in-process contradicts --processes, which are fresh ones; leave out one");
  options.command = app.get_subcommands().front()->get_name();
  require_words(*app.get_subcommands().front());
  require_reason(options);
  require_whole_lists(*app.get_subcommands().front(), arguments);
  require_folders(*app.get_subcommands().front(), options);
  if (options.command == "compare" && options.files.empty() && options.compare.model.empty() &&
      options.compare.hardware.empty() && options.compare.ladders.empty())
    throw UsageError("compare: name two files, A and B, or --model, --hardware or --ladders FILE; "
                     "see --help");
  if (!options.compare.model.empty() || !options.compare.hardware.empty())
    options.cost = true; // it compares counts
  options.filters = words.batch.empty() ? filters_of(words.filter) : read_batch(words.batch);
  for (const Filter& filter : options.filters)
    if (const std::string advice = file_advice(filter.ops, options.cost); !advice.empty())
      throw UsageError("--op " + advice);
  const int usual = options.command == "gate" || options.command == "peers" ? kGateProcesses
                    : options.command == "bless"                            ? kBlessProcesses
                                                                            : 1;
  options.processes = words.processes ? words.processes : options.in_process ? 1 : usual;
  if (!words.shard.empty()) options.shard = shard_of(words);
  if (!words.status.empty()) options.bless.status = judge::status_named(words.status);
  options.confirm = confirms(words.confirm);
  read_environment(options);
  return {options, std::nullopt};
}

} // namespace kg::cli
