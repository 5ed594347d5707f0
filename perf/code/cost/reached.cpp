// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/code/cost/reached.h"

#include "runtime/atomic_file.h"
#include "runtime/error.h"

#include <fmt/format.h>
#include <sstream>
#include <string_view>
#include <utility>

namespace kg::cost {
namespace {

using std::filesystem::path;

std::string_view without_spaces(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  return begin == text.npos ? std::string_view() : text.substr(begin);
}

// The text after #include; empty if the line is not an include.
std::string_view included(std::string_view line) {
  line = without_spaces(line);
  if (!line.starts_with('#')) return {};
  line = without_spaces(line.substr(1));
  constexpr std::string_view kWord = "include";
  return line.starts_with(kWord) ? without_spaces(line.substr(kWord.size())) : std::string_view();
}

bool is_source(const path& file) {
  return file.extension() == ".cpp" || file.extension() == ".cu" || file.extension() == ".cuh";
}

class Walk {
 public:
  explicit Walk(path source) : source_(std::move(source)) {}

  void to(const std::string& name) {
    if (texts_.contains(name)) return;
    const auto text = read_file(source_ / name);
    require(text.has_value(), fmt::format("{} is not there", (source_ / name).string()));
    texts_[name] = *text;
    follow_includes(name, *text);
    if (path(name).extension() == ".h") follow_header(name);
  }

  Texts texts() && { return std::move(texts_); }

 private:
  void follow_includes(const std::string& name, const std::string& text) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      const std::string_view what = included(line);
      if (what.empty()) continue;
      const char end = what.front() == '"' ? '"' : '>';
      const std::size_t at = what.find(end, 1);
      require((what.front() == '"' || what.front() == '<') && at != what.npos,
              fmt::format("{}: what it includes is not written out: {}", name, line));
      const path wanted(what.substr(1, at - 1));
      const std::string found = find(path(name).parent_path(), wanted);
      require(!found.empty() || end == '>',
              fmt::format("{}: what it includes is not there: {}", name, line));
      if (!found.empty()) to(found);
    }
  }

  std::string find(const path& beside, const path& wanted) const {
    for (const path& folder : {beside, path("kernels"), path()}) {
      const path name = (folder / wanted).lexically_normal();
      if (std::filesystem::is_regular_file(source_ / name)) return name.string();
    }
    return "";
  }

  void follow_header(const path& name) {
    const path folder = name.parent_path();
    // kernels/ops/scale/ with scale.h
    const bool of_op =
        folder.parent_path() == "kernels/ops" &&
        std::filesystem::exists(source_ / folder / (folder.filename().string() + ".h"));
    for (const auto& entry : std::filesystem::directory_iterator(source_ / folder))
      if (is_source(entry.path()) && (of_op || entry.path().stem() == name.stem()))
        to((folder / entry.path().filename()).string());
  }

  const path source_;
  Texts texts_;
};

} // namespace

Texts reached(const path& source, const std::vector<std::string>& roots) {
  Walk walk(source);
  for (const std::string& root : roots) walk.to(root);
  return std::move(walk).texts();
}

} // namespace kg::cost
