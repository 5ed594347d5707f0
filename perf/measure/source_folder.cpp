// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/source_folder.h"

#include "perf/measure/child_process.h"

namespace kg::perf {

namespace fs = std::filesystem;

fs::path source_folder(const fs::path& built_from, const fs::path& program) {
  if (fs::is_directory(built_from / "baselines")) return built_from;
  for (fs::path folder = program.parent_path(); folder.has_relative_path();
       folder = folder.parent_path())
    if (fs::is_directory(folder / "baselines")) return folder;
  return built_from;
}

fs::path source_folder(const fs::path& built_from) {
  return source_folder(built_from, this_executable());
}

} // namespace kg::perf
