// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Command lines of `kernelgrade`, an argument a line. They are parsed and not executed.
#include "perf/cli/options.h"

#include "tests/fuzz/targets.h"

#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  std::vector<std::string> arguments;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    // An argument of a program holds no null byte.
    arguments.emplace_back(std::string(text.substr(0, end)).c_str());
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (arguments.back().find('/') != std::string::npos)
      return 0; // no file of this machine is read
  }
  kg::fuzz::attempt([&] { kg::cli::parse(arguments, "baselines"); });
  return 0;
}
