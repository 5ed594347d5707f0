// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda/source/rewrite/project.h"

#include "cuda/source/rewrite/rewrite.h"

#include <fstream>
#include <iterator>
#include <utility>

namespace kg::rewrite {
namespace {

std::string content_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw Error(file.string() + ": cannot be read");
  return {std::istreambuf_iterator<char>(in), {}};
}

// Writes a temporary file and renames it. An unchanged file is left alone, so that nothing is
// recompiled without need.
void write_file(const fs::path& file, const std::string& content) {
  if (fs::exists(file) && content_of(file) == content) return;
  fs::create_directories(file.parent_path());
  fs::path temporary = file;
  temporary += ".new";
  std::ofstream(temporary, std::ios::binary) << content;
  if (content_of(temporary) != content) throw Error(temporary.string() + ": cannot be written");
  fs::rename(temporary, file);
}

// The #line directive makes compiler messages refer to the original file.
std::string line_directive(const fs::path& file) {
  std::string quoted;
  for (char c : file.string()) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return "#line 1 \"" + quoted + "\"\n";
}

// Whether the file belongs to the system or to a CUDA toolkit, whose headers are not rewritten.
bool of_the_system(const fs::path& file) {
  if (file.string().rfind("/usr/", 0) == 0) return true;
  for (fs::path folder = file.parent_path(); folder != folder.parent_path();
       folder = folder.parent_path()) {
    if (fs::exists(folder / "crt/host_config.h")) return true; // a toolkit's include folder
  }
  return false;
}

} // namespace

Project::Project(fs::path root, std::vector<fs::path> folders, fs::path copies, bool record)
    : root_(fs::weakly_canonical(root)), folders_(std::move(folders)), copies_(std::move(copies)),
      record_(record) {
  // Kernelgrade's own headers need no rewriting.
  std::erase_if(folders_, [](const fs::path& folder) {
    return fs::exists(folder / "kernelgrade_cuda_source.h") ||
           fs::exists(folder / "runtime/device_code.h");
  });
}

void Project::write(const fs::path& source, const fs::path& output) {
  std::string text;
  PassMacros known;
  do { // a macro may affect a file that was read before it
    known = macros_;
    headers_.clear();
    bool changed = false;
    text = rewritten(source, changed);
  } while (macros_ != known);
  // nvcc makes the runtime available to every source, included or not.
  write_file(output, "#include <kernelgrade_cuda_source.h>\n" + line_directive(source) + text);
}

std::string Project::rewritten(const fs::path& file, bool& changed) {
  read_.insert(file);
  const std::string text = content_of(file);
  bool header_changed = false;
  const Resolve places = [&](std::string_view name) {
    return resolve(name, file.parent_path(), header_changed);
  };
  Result result = rewrite(file.string(), text, macros_, places, record_);
  changed = result.changed || header_changed;
  return std::move(result.text);
}

// Quoted names become absolute, because the including file moves.
std::string Project::resolve(std::string_view name, const fs::path& folder, bool& changed) {
  const bool quoted = name.front() == '"';
  const fs::path relative(name.substr(1, name.size() - 2));
  std::vector<fs::path> places = folders_;
  if (quoted) places.insert(places.begin(), folder);
  for (const fs::path& place : places) {
    std::error_code none;
    const fs::path file = fs::weakly_canonical(place / relative, none);
    if (none || !fs::is_regular_file(file, none)) continue;
    if (of_the_system(file)) return {};
    const fs::path& use = header(file).use;
    changed |= use != file;
    return use != file || quoted ? "\"" + use.string() + "\"" : std::string();
  }
  return {};
}

const Project::Header& Project::header(const fs::path& file) {
  const auto [position, fresh] = headers_.try_emplace(file);
  Header& header = position->second;
  if (!fresh) return header;
  header.use = file;
  bool changed = false;
  const std::string text = rewritten(file, changed);
  if (!changed) return header;
  header.use = copies_ / (within_root(file) ? file.lexically_relative(root_)
                                            : "outside" / file.relative_path());
  write_file(header.use, line_directive(file) + text);
  return header;
}

bool Project::within_root(const fs::path& file) const {
  const fs::path relative = file.lexically_relative(root_);
  return !relative.empty() && *relative.begin() != "..";
}

} // namespace kg::rewrite
