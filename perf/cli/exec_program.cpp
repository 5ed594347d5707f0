// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/cli/exec_program.h"

#include "perf/cli/build/target.h"
#include "runtime/error.h"

#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <ostream>
#include <set>
#include <unistd.h>

namespace kg::cli {

void need(const World& world, const std::filesystem::path& file, const std::string& target,
          const std::string& otherwise) {
  const auto complain = [&](const std::string& words) {
    throw Error(
        fmt::format("no {}{}{}{}", file.string(), words, otherwise.empty() ? "" : "\n", otherwise));
  };
  static std::set<std::string> looked_at; // by this process
  const bool there = std::filesystem::exists(file);
  const bool here = build::is_in_build_tree(world.executable, world.build);
  if (there && (!here || !looked_at.insert(world.build.string() + target).second ||
                build::is_up_to_date(world.build, target)))
    return;
  if (!here) complain("; install Kernelgrade again, with the target " + target + " built");
  try {
    build::make(world.build, target, world.err);
  } catch (const Error& error) {
    complain(std::string(", and building it failed:\n") + error.what());
  }
  if (!std::filesystem::exists(file)) complain(", though the target " + target + " was built");
}

void exec_program(const World& world, const std::string& program,
                  const std::vector<std::string>& arguments, const std::string& otherwise) {
  std::string path = (world.executable.parent_path() / program).string();
  need(world, path, program, otherwise);
  std::vector<std::string> words = arguments;
  std::vector<char*> pointers = {path.data()};
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  world.out.flush();
  execv(path.c_str(), pointers.data());
  throw Error(fmt::format("{}: cannot be started: {}", path, std::strerror(errno)));
}

} // namespace kg::cli
