// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// `kernelgrade` built from another commit as the running one was built, and kept: what a slow-down
// is measured against.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace kg::ab {

struct BuildPlan {
  std::filesystem::path source; // the work tree whose history is built
  std::filesystem::path build;  // a configured build tree: its compiler and flags are used
  std::filesystem::path cache;  // where builds are kept: a folder for nothing else
  std::function<void(const std::string&)> progress; // one line per long step; may be empty
  // The operations that the build needs, in any order; empty: all, which takes minutes more.
  std::vector<std::string> ops;
};

struct ReferenceBuild {
  std::string commit;               // the full name
  std::filesystem::path executable; // kernelgrade
  // The same program in another folder, for the control arm. A second build would have the same
  // code, since source, compiler and flags are the same; what could differ is where the file lies,
  // on the disk and in the page cache, and that differs for a copy, too.
  std::filesystem::path control;
};

// The build of `ref`, made if the cache has none for this commit, compiler,
// flags and operations. Other
// processes that want a build wait meanwhile. A build that fails or is interrupted leaves no entry.
// Throws UnknownRef, and Error with the end of the build's log.
ReferenceBuild reference_build(const BuildPlan& plan, const std::string& ref);

} // namespace kg::ab
