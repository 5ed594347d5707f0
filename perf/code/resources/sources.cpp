// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/code/resources/sources.h"

#include "perf/code/identity/source_code.h"
#include "perf/judge/parts.h"
#include "perf/judge/row.h"
#include "runtime/atomic_file.h"
#include "runtime/error.h"
#include "runtime/hash.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <set>
#include <utility>

namespace kg::resources {
namespace {

// The names in a dependency list in make's format.
std::vector<std::string> dependencies(std::string_view list) {
  std::vector<std::string> names;
  std::string name;
  const auto end_name = [&] {
    if (!name.empty()) names.push_back(std::exchange(name, ""));
  };
  const std::size_t colon = list.find(": ");
  for (std::size_t at = colon == list.npos ? list.size() : colon + 2; at < list.size(); ++at) {
    const bool escapes = list[at] == '\\' && at + 1 < list.size();
    if (escapes && list[at + 1] == ' ')
      name += list[++at];
    else if (list[at] == ' ' || list[at] == '\n' || (escapes && list[at + 1] == '\n'))
      end_name();
    else
      name += list[at];
  }
  end_name();
  return names;
}

// Whether a relative path leads out of its folder.
bool is_outside(const std::filesystem::path& relative) {
  return relative.empty() || *relative.begin() == "..";
}

} // namespace

Compiler compiler_here() {
  Compiler here{KERNELGRADE_NVCC_VERSION, KERNELGRADE_NVCC_FLAGS,
                judge::parts_of(KERNELGRADE_RESOURCE_ARCHS, ' ')};
  for (const char* variable : {"NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS"})
    if (const char* value = std::getenv(variable); value && *value)
      here.flags += fmt::format(" {}={}", variable, value);
  return here;
}

std::vector<std::string> files_read(const std::filesystem::path& folder,
                                    const std::filesystem::path& build,
                                    const std::filesystem::path& kernels) {
  std::set<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".fatbin") continue;
    std::filesystem::path list = entry.path();
    list.replace_extension(".d");
    for (const std::string& name : dependencies(read_file(list).value_or(""))) {
      const std::filesystem::path path =
          (build / name).lexically_normal(); // or `name`, if absolute
      const std::filesystem::path file = path.lexically_relative(kernels);
      if (is_outside(file)) {
        require(is_outside(path.lexically_relative(kernels.parent_path())),
                fmt::format("{}: nvcc read {}, which is not in {}", list.string(), path.string(),
                            kernels.string()));
        continue; // the toolkit's or the system's
      }
      require(std::filesystem::exists(path) &&
                  entry.last_write_time() >= std::filesystem::last_write_time(path),
              fmt::format("{} is older than {}; build the target fatbins", entry.path().string(),
                          path.string()));
      files.insert(file.string());
    }
  }
  return {files.begin(), files.end()};
}

std::optional<std::string> hash_sources(const std::vector<std::string>& files,
                                        const std::filesystem::path& kernels, std::string_view op,
                                        std::string_view arch, std::string_view flags,
                                        const std::vector<judge::ExactRow>& rows) {
  std::error_code none; // a missing folder has no sources
  for (const auto& entry : std::filesystem::directory_iterator(kernels / "ops" / op, none)) {
    const std::string name = entry.path().lexically_relative(kernels).string();
    const bool is_compiled = entry.path().extension() == ".cu";
    if (is_compiled && std::find(files.begin(), files.end(), name) == files.end())
      return std::nullopt;
  }
  if (files.empty() || rows.empty()) return std::nullopt;
  Hash hash;
  hash.field(arch).field(flags);
  identity::SourceHash sources;
  for (const std::string& file : files) {
    const auto contents = read_file(kernels / file);
    if (!contents) return std::nullopt;
    sources.add(file, *contents);
  }
  sources.into(hash);
  for (const judge::ExactRow& row : rows) {
    hash.field(judge::key_text(row));
    for (const double value : row.values) hash.field(judge::exact_number(value));
  }
  return hash.hex();
}

std::vector<judge::ExactRow> rows_of_op(const std::vector<judge::ExactRow>& rows,
                                        std::string_view op) {
  std::vector<judge::ExactRow> found;
  for (const judge::ExactRow& row : rows)
    if (judge::op_of(row.key.front()) == op) found.push_back(row);
  return found;
}

std::string why_changed(const judge::SourcesFile& sources, const judge::ExactFile& blessed,
                        const std::filesystem::path& kernels, const std::string& op,
                        std::string_view arch, const Compiler& here) {
  if (!sources.problem.empty()) return sources.problem;
  if (!blessed.problems.empty()) return judge::text(blessed.problems.front());
  const auto at = sources.ops.find(op);
  if (at == sources.ops.end()) return fmt::format("{} does not name it", sources.path.string());
  const judge::Sources& then = at->second;
  if (!here.version.empty() && here.version != then.compiler)
    return fmt::format("nvcc {} is here, and {} made what is blessed", here.version, then.compiler);
  const auto hash =
      hash_sources(then.files, kernels, op, arch, here.flags, rows_of_op(blessed.rows, op));
  if (hash == then.hash) return "";
  return fmt::format("its sources, nvcc's flags or its blessed rows have changed since {}",
                     then.commit);
}

std::string why_unchanged(const judge::Sources& sources, const Compiler& here) {
  if (here.version.empty())
    return fmt::format("not compiled, for want of nvcc: sources and flags are those of {}, where "
                       "nvcc {} compiled them",
                       sources.commit, sources.compiler);
  return fmt::format("not compiled: sources, flags and nvcc {} unchanged since {}",
                     sources.compiler, sources.commit);
}

} // namespace kg::resources
