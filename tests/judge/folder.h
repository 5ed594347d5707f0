// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A folder of its own for a test that writes files.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace kg::judge::test {

class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "kernelgrade-XXXXXX").string();
    if (!mkdtemp(name.data())) throw std::runtime_error("cannot make the folder " + name);
    path_ = name;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::filesystem::path& path() const { return path_; }

  int count_files() const {
    int files = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path_))
      files += entry.is_regular_file();
    return files;
  }

 private:
  std::filesystem::path path_;
};

} // namespace kg::judge::test
