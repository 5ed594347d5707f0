// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/cli/become.h"

#include "runtime/error.h"

#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <ostream>
#include <unistd.h>

namespace kg::cli {

void become(const World& world, const std::string& program,
            const std::vector<std::string>& arguments, const std::string& fix) {
  std::string path = (world.executable.parent_path() / program).string();
  if (!std::filesystem::exists(path)) throw Error(fmt::format("there is no {}; {}", path, fix));
  std::vector<std::string> words = arguments;
  std::vector<char*> pointers = {path.data()};
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  world.out.flush();
  execv(path.c_str(), pointers.data());
  throw Error(fmt::format("{}: cannot be started: {}", path, std::strerror(errno)));
}

} // namespace kg::cli
