// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/judge/command.h"

#include <fmt/format.h>
#include <sstream>
#include <utility>

namespace kg::judge {
namespace {

namespace fs = std::filesystem;

Commands& set() {
  static Commands commands;
  return commands;
}

bool found_by(const std::string& path, const fs::path& program) {
  std::istringstream folders(path);
  std::error_code ignored;
  for (std::string folder; std::getline(folders, folder, ':');)
    if (const fs::path found = fs::path(folder) / program.filename(); fs::exists(found, ignored))
      return fs::equivalent(found, program, ignored); // the first one hides the others
  return false;
}

std::string quoted(const std::string& path) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string("/._-+=,@%:").find(c) != std::string::npos;
  };
  std::string words;
  bool needed = path.empty();
  for (const char c : path) {
    needed = needed || !plain(c);
    words += c == '\'' ? "'\\''" : std::string(1, c);
  }
  return needed ? "'" + words + "'" : words;
}

} // namespace

std::string command(const std::string& arguments) { return set().kernelgrade + " " + arguments; }

std::string ctest_command(const std::string& arguments) { return set().ctest + " " + arguments; }

std::string row_command(std::string_view command, std::string_view op, std::string_view dtype,
                        const RowKey& key) {
  return judge::command(fmt::format("{} --op {} --dtype {} --case {} --variant {} --mode {}",
                                    command, op, dtype, key.case_id, key.variant, name(key.mode)));
}

void set_commands(Commands commands) { set() = std::move(commands); }

Commands commands_for(const fs::path& folder, const fs::path& executable, const fs::path& build,
                      const std::string& path) {
  const fs::path program = executable.parent_path() / "kernelgrade";
  const fs::path tree = build.lexically_relative(folder);
  const bool below = !build.empty() && !tree.empty() && tree != "." && *tree.begin() != "..";
  Commands commands;
  if (!found_by(path, program))
    commands.kernelgrade = quoted((below ? program.lexically_relative(folder) : program).string());
  if (!build.empty())
    commands.ctest = "ctest --test-dir " + quoted((below ? tree : build).string());
  return commands;
}

} // namespace kg::judge
