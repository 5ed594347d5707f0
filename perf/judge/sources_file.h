// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What an operation's blessed figures come from, a line each: the compiler that made them, and a
// hash of whatever else decides. What is unchanged need not be made again to be judged.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace kg::judge {

struct Sources {
  std::string compiler;           // its version
  std::string commit;             // where they were first blessed as they are
  std::string hash;               // of all that decides
  std::vector<std::string> files; // in order; none where they can be found without a compiler

  friend bool operator==(const Sources&, const Sources&) = default;
};

struct SourcesFile {
  std::filesystem::path path;
  std::map<std::string, Sources> ops;
  std::string problem; // why nothing in it may be believed; empty where it may, or it is not there
};

SourcesFile load_sources(const std::filesystem::path& path);

// Throws Error where load_sources would find a problem.
void save_sources(const SourcesFile& file);

// Drops the operations that have no folder in `ops` any more. Names each in a line of its own.
std::string drop_removed(SourcesFile& file, const std::filesystem::path& ops);

// The op is blessed so now; its commit stays where nothing else differs.
void bless_sources(SourcesFile& file, const std::string& op, Sources now);

} // namespace kg::judge
