// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The files that the build made for these tests.
#pragma once

#include "runtime/atomic_file.h"

#include <filesystem>
#include <stdexcept>
#include <string>

namespace kg::identity::test {

inline std::filesystem::path made(const std::string& name) {
  return std::filesystem::path(KERNELGRADE_TEST_FILES) / name;
}

inline std::string contents_of(const std::string& name) {
  const auto contents = read_file(made(name));
  if (!contents) throw std::runtime_error(made(name).string() + ": the build has not made it");
  return *contents;
}

} // namespace kg::identity::test
