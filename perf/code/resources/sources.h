// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Whether an op's kernels are still those whose resources were blessed. nvcc makes the same of the
// same sources each time, so what is unchanged need not be compiled again to be judged.
// baselines/resources/sources/<arch>-cuda<major.minor>.csv holds for each op the files that nvcc
// read, and a hash of them and of whatever else decides.
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
  std::string version;            // nvcc's, "13.0.88"; empty: there was none
  std::string flags;              // those of the environment included
  std::vector<std::string> archs; // "sm_90a"
};
Compiler compiler_here();

// The files below `kernels` that nvcc read when it made the fatbins in `folder`, as the lists that
// it left beside them say, in which names are relative to the folder `build`. Throws Error where a
// fatbin is older than one of them, and where one of ours is not below `kernels`.
std::vector<std::string> files_read(const std::filesystem::path& folder,
                                    const std::filesystem::path& build,
                                    const std::filesystem::path& kernels);

// Of the files' names and contents, the architecture, the flags, and the op's rows but for their
// reasons. Nothing where a file is missing, or a .cu file of the op is not among them.
std::optional<std::string> hash_sources(const std::vector<std::string>& files,
                                        const std::filesystem::path& kernels, std::string_view op,
                                        std::string_view arch, std::string_view flags,
                                        const std::vector<judge::ExactRow>& rows);

// Rows of the op, of all in a baseline file.
std::vector<judge::ExactRow> rows_of_op(const std::vector<judge::ExactRow>& rows,
                                        std::string_view op);

// Why the op must be compiled for `arch` to be judged; empty where what is blessed holds.
std::string why_changed(const judge::SourcesFile& sources, const judge::ExactFile& blessed,
                        const std::filesystem::path& kernels, const std::string& op,
                        std::string_view arch, const Compiler& here);

// For a reader, of an op for which why_changed() is empty: what is unchanged, and since when.
std::string why_unchanged(const judge::Sources& sources, const Compiler& here);

} // namespace kg::resources
