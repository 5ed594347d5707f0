// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The sources of an operation's blessed figures, one line per operation: the compiler, and a hash
// of everything else that determines the figures. If both are unchanged, the figures need not be
// computed again.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace kg::judge {

struct Sources {
  std::string compiler;           // its version
  std::string commit;             // the first commit blessed with this hash
  std::string hash;               // of everything that determines the figures
  std::vector<std::string> files; // sorted; empty if they are known without a compiler

  friend bool operator==(const Sources&, const Sources&) = default;
};

struct SourcesFile {
  std::filesystem::path path;
  std::map<std::string, Sources> ops;
  std::string problem; // why the file is unusable; empty if it is usable or missing
};

SourcesFile load_sources(const std::filesystem::path& path);

// Throws Error if load_sources would find a problem.
void save_sources(const SourcesFile& file);

// Drops the operations that no longer have a folder in `ops`. Returns one line per dropped one.
std::string drop_removed(SourcesFile& file, const std::filesystem::path& ops);

// Records `now` for the operation. Keeps the old commit if nothing else differs.
void bless_sources(SourcesFile& file, const std::string& op, Sources now);

} // namespace kg::judge
