// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/error.h"

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

namespace kg {

// A new folder, removed with all its contents at the end of the scope.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "kernelgrade-XXXXXX").string();
    require(mkdtemp(name.data()) != nullptr,
            name + ": cannot make a temporary folder; set TMPDIR to a folder that can be written");
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored; // a leftover in the system's temporary folder does no harm
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

} // namespace kg
