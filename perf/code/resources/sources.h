// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Decides whether an operation's blessed resources are still valid. nvcc is deterministic, so
// unchanged sources need not be compiled again.
// baselines/resources/sources/<arch>-cuda<major.minor>.csv holds for each operation the files that
// nvcc read, and a hash of them and of everything else that determines the result.
#pragma once

#include "perf/judge/exact_table.h"
#include "perf/judge/sources_file.h"

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kg::resources {

// How this build compiles kernels (cmake/Resources.cmake).
struct Compiler {
  std::string version;            // nvcc's version, "13.0.88"; empty: no nvcc
  std::string flags;              // including those from the environment
  std::vector<std::string> archs; // "sm_90a"
};
Compiler compiler_here();

// The files below `kernels` that nvcc read to make the fatbins in `folder`, from the dependency
// lists beside them, whose names are relative to the folder `build`. Throws Error if a fatbin is
// older than one of its files, or if one of Kernelgrade's files is not below `kernels`.
std::vector<std::string> files_read(const std::filesystem::path& folder,
                                    const std::filesystem::path& build,
                                    const std::filesystem::path& kernels);

// Hash of the files' names and contents, architecture, flags, and the operation's rows without
// reasons. Empty if a file is missing or a .cu file of the operation is not in `files`.
std::optional<std::string> hash_sources(const std::vector<std::string>& files,
                                        const std::filesystem::path& kernels, std::string_view op,
                                        std::string_view arch, std::string_view flags,
                                        const std::vector<judge::ExactRow>& rows);

// The operation's rows among all rows of a baseline file.
std::vector<judge::ExactRow> rows_of_op(const std::vector<judge::ExactRow>& rows,
                                        std::string_view op);

// Why the operation must be compiled again for `arch`; empty if the blessed rows are still valid.
std::string why_changed(const judge::SourcesFile& sources, const judge::ExactFile& blessed,
                        const std::filesystem::path& kernels, const std::string& op,
                        std::string_view arch, const Compiler& here);

// What is unchanged, and since when. Requires an empty why_changed().
std::string why_unchanged(const judge::Sources& sources, const Compiler& here);

} // namespace kg::resources
