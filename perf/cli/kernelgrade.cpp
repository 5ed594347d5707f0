// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// From the command line to a command, and from whatever it throws to an exit code.
#include "perf/cli/commands.h"
#include "perf/cli/console.h"
#include "perf/judge/gate.h"

#include <exception>
#include <map>
#include <optional>
#include <ostream>

namespace kg::cli {
namespace {

int run_rows(const Options& options, World& world) {
  return options.once ? run_once(options, world) : run(options, world);
}

int compare_costs(const Options& options, World& world) {
  return options.hardware.empty() ? compare_model(options, world)
                                  : compare_hardware(options, world);
}

int dispatch(const std::vector<std::string>& arguments, World& world) {
  static const std::map<std::string, int (*)(const Options&, World&)> kCommands = {
    {"ab", ab},
    {"bless", bless},
    {"ceilings", ceilings},
    {"choose", choose},
    {"compare", compare},
    {"doctor", doctor},
    {"gate", gate},
    {"list", list},
    {"merge", merge},
    {"profile", profile},
    {"report", report},
    {"resources", resources},
    {"run", run_rows},
    {"selftest", selftest},
    {"study", study},
#if KERNELGRADE_HISTORY
    {"history", history},
#endif
  };
  static const std::map<std::string, int (*)(const Options&, World&)> kCostCommands = {
      {"profile", profile_costs},
      {"gate", gate_costs},
      {"bless", bless_costs},
      {"compare", compare_costs}};
  const Parsed parsed = parse(arguments, world.baselines);
  if (parsed.help) {
    world.out << parsed.help->text;
    return judge::kExitPass;
  }
  std::optional<AsciiOnly> out, err;
  if (parsed.options.ascii) {
    out.emplace(world.out);
    err.emplace(world.err);
  }
  if (parsed.options.cost) {
    if (!world.take_launches) return run_counting_program(arguments, world);
    return kCostCommands.at(parsed.options.command)(parsed.options, world);
  }
  return kCommands.at(parsed.options.command)(parsed.options, world);
}

} // namespace

int kernelgrade(const std::vector<std::string>& arguments, World& world) {
  try {
    return dispatch(arguments, world);
  } catch (const UsageError& error) {
    world.err << "kernelgrade: " << error.what() << "\n";
    return kExitUsage;
  } catch (const std::exception& error) {
    world.err << "kernelgrade: " << error.what() << "\n";
    return judge::kExitFail;
  }
}

} // namespace kg::cli
