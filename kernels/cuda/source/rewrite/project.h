// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A CUDA source and the project's headers that it includes: the headers that hold what must be
// rewritten are copied, rewritten, beside the output, and the source includes the copies.
#pragma once

#include "cuda/source/rewrite/architecture.h"

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace kg::rewrite {

namespace fs = std::filesystem;

class Project {
 public:
  // Headers are looked for beside the file that includes them and in `folders`; those of the system
  // and of a CUDA toolkit are never rewritten. Copies go into `copies`, by their place below
  // `root`, or, of others, below outside/. `record`: the program notes what runs (record.h).
  Project(fs::path root, std::vector<fs::path> folders, fs::path copies, bool record = false);

  // Writes the rewritten `source` to `output`, and its copies. Throws Error or
  // fs::filesystem_error.
  void write(const fs::path& source, const fs::path& output);

  // What was read: the output is out of date when one of these changes.
  const std::set<fs::path>& read() const { return read_; }

 private:
  struct Header {
    fs::path use; // the copy, or the header itself
  };

  std::string rewritten(const fs::path& file, bool& changed);
  std::string resolve(std::string_view name, const fs::path& folder, bool& changed);
  const Header& header(const fs::path& file);
  bool within_root(const fs::path& file) const;

  fs::path root_;
  std::vector<fs::path> folders_;
  fs::path copies_;
  bool record_;
  std::map<fs::path, Header> headers_;
  std::set<fs::path> read_;
  PassMacros macros_;
};

} // namespace kg::rewrite
