// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Builds `kernelgrade` from another commit with the running program's configuration, and caches it.
// Slow-downs are measured against this build.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace kg::ab {

struct BuildPlan {
  std::filesystem::path source; // the work tree whose history contains the commit
  std::filesystem::path build;  // a configured build tree that supplies compiler and flags
  std::filesystem::path cache;  // holds the cached builds and nothing else
  std::function<void(const std::string&)> progress; // one line per long step; may be empty
  // The operations that the build needs, in any order. Empty: all, which takes minutes longer.
  std::vector<std::string> ops;
};

struct ReferenceBuild {
  std::string commit;               // full hash
  std::filesystem::path executable; // kernelgrade
  // A copy of the program in another folder, for the control arm. A second build would produce the
  // same code, since source, compiler and flags are equal. Only the file's position on disk and in
  // the page cache could differ, and a copy differs in these as well.
  std::filesystem::path control;
};

// Returns the build of `ref`. Builds it if the cache has no entry for this commit, compiler, flags
// and operations. Other processes that need a build wait. A failed or interrupted build leaves no
// entry. Throws UnknownRef, or Error with the end of the build log.
ReferenceBuild reference_build(const BuildPlan& plan, const std::string& ref);

} // namespace kg::ab
