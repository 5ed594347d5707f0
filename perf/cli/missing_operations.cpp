// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/cli/missing_operations.h"

#include "perf/cli/build/target.h"
#include "perf/cli/exec_program.h"

#include <algorithm>
#include <fstream>
#include <ostream>
#include <regex>
#include <set>

namespace kg::cli {
namespace {

// All operations of the source, whether in this build or not.
std::set<std::string> operations_of(const std::filesystem::path& source) {
  static const std::regex kCall(R"(kernelgrade_add_op\(([a-z0-9_]+).*)");
  std::set<std::string> operations;
  std::ifstream file(source / "CMakeLists.txt");
  std::smatch call;
  for (std::string line; std::getline(file, line);)
    if (std::regex_match(line, call, kCall)) operations.insert(call[1]);
  return operations;
}

std::vector<std::string> missing(const Options& options, const World& world) {
  std::vector<std::string> named = {options.attempt.op};
  for (const Filter& filter : options.filters)
    named.insert(named.end(), filter.ops.begin(), filter.ops.end());
  const std::set<std::string> known = operations_of(world.source);
  std::erase_if(named, [&](const std::string& op) {
    return !known.contains(op) ||
           std::any_of(world.operations.begin(), world.operations.end(),
                       [&](const perf::Operation& built) { return built.name == op; });
  });
  return named;
}

} // namespace

void build_missing_operations(const Options& options, const World& world,
                              const std::vector<std::string>& arguments) {
  if (!build::is_in_build_tree(world.executable, world.build)) return;
  std::string list = build::cached(world.build, "KERNELGRADE_OPS");
  const std::vector<std::string> more = missing(options, world);
  if (list.empty() || more.empty()) return; // the tree has all operations
  for (const std::string& op : more)
    if ((";" + list + ";").find(";" + op + ";") == std::string::npos) list += ";" + op;
  build::configure(world.build, "KERNELGRADE_OPS", list);
  const std::string program = world.executable.filename().string();
  build::make(world.build, program, world.err);
  exec_program(world, program, arguments);
}

} // namespace kg::cli
