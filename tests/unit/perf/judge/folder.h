// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A folder of its own for a test that writes files.
#pragma once

#include "runtime/temporary_folder.h"

namespace kg::judge::test {

class Folder : public TemporaryFolder {
 public:
  int count_files() const {
    int files = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path()))
      files += entry.is_regular_file();
    return files;
  }
};

} // namespace kg::judge::test
