// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A CUDA source and the project headers that it includes. Headers that must be rewritten are copied
// in rewritten form next to the output, and the source includes the copies.
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
  // Headers are searched next to the including file and in `folders`. System and CUDA toolkit
  // headers are never rewritten. Copies go to `copies`, under their path relative to `root`, or
  // under outside/ if not below `root`. `record`: the program records what runs (record.h).
  Project(fs::path root, std::vector<fs::path> folders, fs::path copies, bool record = false);

  // Writes the rewritten `source` to `output`, and the copies. Throws Error or
  // fs::filesystem_error.
  void write(const fs::path& source, const fs::path& output);

  // The files that were read: the output is out of date if one of them changes.
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
