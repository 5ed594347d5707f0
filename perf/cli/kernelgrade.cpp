// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// From the command line to a command, and from its exceptions to an exit code.
#include "perf/cli/commands.h"
#include "perf/cli/console.h"
#include "perf/cli/cost_unchanged.h"
#include "perf/cli/exec_program.h"
#include "perf/cli/help.h"
#include "perf/cli/measure_rows.h"
#include "perf/cli/missing_operations.h"
#include "perf/format/sinks.h"
#include "perf/judge/gate.h"
#include "perf/lab/study/record.h"
#include "perf/measure/child_process.h"
#include "perf/measure/environment.h"
#include "runtime/atomic_file.h"
#include "runtime/temporary_folder.h"
#include "runtime/without_places.h"

#include <algorithm>
#include <exception>
#include <filesystem>
#include <fmt/format.h>
#include <initializer_list>
#include <map>
#include <optional>
#include <ostream>
#include <sstream>
#include <string_view>

namespace kg::cli {
namespace {

namespace fs = std::filesystem;

int run_rows(const Options& options, World& world) {
  return options.once ? run_once(options, world) : run(options, world);
}

int compare_costs(const Options& options, World& world) {
  return options.compare.hardware.empty() ? compare_model(options, world)
                                          : compare_hardware(options, world);
}

// Commands of other programs, which dispatch() starts before parsing.
int misplaced_model(const Options&, World&) {
  throw UsageError("model: it comes first: kernelgrade model run NAME");
}
int misplaced_check(const Options&, World&) {
  throw UsageError("check: it comes first: kernelgrade check FILE.cu");
}

struct OtherProgram {
  const char *name, *target, *otherwise; // the fix if it cannot be built
};

// Checks before measuring that results can be written.
void require_writable_files(const Options& options) {
  for (const std::filesystem::path& file :
       {options.json, options.selftest.calibration, options.choose.table})
    try {
      if (!file.empty()) require_writable(file);
    } catch (const Error& error) {
      throw UsageError(error.what());
    }
}

// A study's files and row files are handled by different commands.
std::string command_of(const Options& options) {
  const bool takes_study =
      options.command == "merge" || (options.command == "report" && options.files.size() == 1);
  if (takes_study && std::any_of(options.files.begin(), options.files.end(), study::is_record))
    return options.command + " study";
  return options.command;
}

// Null if the command belongs to the lab, and this program does not.
Command find_command(const Options& options, const World& world) {
  static const std::map<std::string, Command> kCommands = {
    {"ab", ab},
    {"bless", bless},
    {"check", misplaced_check},
    {"compare", compare},
    {"doctor", doctor},
    {"emulate", emulate},
    {"gate", gate},
    {"list", list},
    {"merge", merge},
    {"model", misplaced_model},
    {"report", report},
    {"resources", resources},
    {"run", run_rows},
#if KERNELGRADE_HISTORY
    {"history", history},
#endif
  };
  static const std::map<std::string, Command> kCostCommands = {{"profile", profile_costs},
                                                               {"gate", gate_costs},
                                                               {"bless", bless_costs},
                                                               {"compare", compare_costs}};
  if (options.cost) return kCostCommands.at(options.command);
  const std::string command = command_of(options);
  if (const auto own = kCommands.find(command); own != kCommands.end()) return own->second;
  const auto further = world.lab.find(command);
  return further == world.lab.end() ? nullptr : further->second;
}

// --json -: standard output receives the file, and text goes to standard error. A command that
// fails midway writes nothing of the file.
int run_with_json_on_output(Command command, Options options, World& world) {
  class ToError {
   public:
    explicit ToError(World& world) : out_(world.out), own_(out_.rdbuf(world.err.rdbuf())) {}
    ~ToError() { out_.rdbuf(own_); }
    ToError(const ToError&) = delete;
    ToError& operator=(const ToError&) = delete;

   private:
    std::ostream& out_;
    std::streambuf* const own_;
  };
  const TemporaryFolder folder;
  options.json = folder.path() / "standard_output.json";
  int exit_code = 0;
  {
    const ToError for_people(world);
    exit_code = command(options, world);
  }
  std::ostream output(Printable::below(world.out));
  output << read_file(options.json).value_or("") << std::flush;
  if (!output) throw Error("standard output: the JSON cannot be written to it; is the disk full?");
  return exit_code;
}

// The commands that are separate programs and parse their own arguments. Null for other commands.
const OtherProgram* other_program(const std::string& command) {
  static const std::map<std::string, OtherProgram> kPrograms = {
      {"check",
       {"kernelgrade-check", "check",
        "programs are checked by the CPU emulator's build with g++ (cmake --preset host)"}},
      {"model", {"kernelgrade-model", "kernelgrade-model", ""}}};
  const auto found = kPrograms.find(command);
  return found == kPrograms.end() ? nullptr : &found->second;
}

fs::path path_of(const OtherProgram& program, const World& world) {
  fs::path path = world.executable.parent_path() / program.name;
  need(world, path, program.target, program.otherwise);
  return path;
}

// The help is one text, although some commands are separate programs.
std::string with_sections_of_other_programs(const std::string& help, const std::string& option,
                                            const World& world) {
  std::string text;
  std::istringstream lines(help);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(kOtherProgram)) {
      text += line + "\n";
      continue;
    }
    const std::string command = line.substr(std::string_view(kOtherProgram).size());
    const std::string program = path_of(*other_program(command), world).string();
    const perf::Finished finished =
        perf::run_lines({program, option}, [&](const std::string& each) { text += each + "\n"; });
    if (finished.exit_code != 0)
      throw Error(fmt::format("{} {} failed with exit code {}; build it again", program, option,
                              finished.exit_code));
  }
  return text;
}

int dispatch(std::vector<std::string> arguments, World& world) {
  if (arguments.size() == 2 && arguments.front() == "help" && other_program(arguments.back()))
    arguments = {arguments.back(), "--help"};
  const OtherProgram* const other = arguments.empty() ? nullptr : other_program(arguments.front());
  if (other) {
    path_of(*other, world);
    exec_program(world, other->name, {arguments.begin() + 1, arguments.end()});
  }
  const Parsed parsed = parse(arguments, world.baselines);
  if (parsed.help) {
    world.out << with_sections_of_other_programs(parsed.help->text, arguments.front(), world);
    return judge::kExitPass;
  }
  const bool blesses = parsed.options.command == "bless" || parsed.options.bless.resources;
  if (blesses && parsed.options.files.empty())
    perf::require_clean(source_of(parsed.options, world));
  build_missing_operations(parsed.options, world, arguments);
  if (parsed.options.cost && !world.take_launches) {
    if (!needs_no_counts(parsed.options, world)) return run_counting_program(arguments, world);
    world.untimed = true; // they have costs as well
  }
  const Command command = find_command(parsed.options, world);
  if (!command) exec_program(world, "kernelgrade-lab", arguments);
  std::optional<AsciiOnly> out, err;
  if (parsed.options.ascii) {
    out.emplace(world.out);
    err.emplace(world.err);
  }
  if (parsed.options.json == "-") return run_with_json_on_output(command, parsed.options, world);
  require_writable_files(parsed.options);
  return command(parsed.options, world);
}

} // namespace

int kernelgrade(const std::vector<std::string>& arguments, World& world) {
  Printable out(world.out), err(world.err);
  const int exit_code = [&] {
    try {
      return dispatch(arguments, world);
    } catch (const UsageError& error) {
      world.err << "kernelgrade: " << judge::for_console(without_places(error.what())) << "\n";
      return kExitUsage;
    } catch (const std::exception& error) {
      world.err << "kernelgrade: " << judge::for_console(without_places(error.what())) << "\n";
      return judge::kExitFail;
    }
  }();
  if (out.flushed()) return exit_code;
  world.err << "kernelgrade: standard output: not all of the text could be written to it; is the "
               "disk full?\n";
  return judge::kExitFail;
}

} // namespace kg::cli
