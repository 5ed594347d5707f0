// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/code/coverage/coverage.h"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <vector>

namespace kg::coverage {
namespace {

// In source order.
std::vector<const Kernel*> sorted(const Notes& notes) {
  std::vector<const Kernel*> kernels;
  for (const auto& [key, kernel] : notes.kernels) kernels.push_back(&kernel);
  std::stable_sort(kernels.begin(), kernels.end(), [](const Kernel* a, const Kernel* b) {
    return std::tie(a->file, a->line, a->name) < std::tie(b->file, b->line, b->name);
  });
  return kernels;
}

std::string from_folder(const std::string& file, const std::string& folder) {
  return file.starts_with(folder + "/") ? file.substr(folder.size() + 1) : file;
}

std::string place_of(const Kernel& kernel, const std::string& folder) {
  if (kernel.file.empty()) return "(compile it with nvcc -lineinfo)";
  return fmt::format("{}:{}", from_folder(kernel.file, folder), kernel.line);
}

// "13-14, 20": ranges of lines with code that were not reached.
std::string missed_lines(const std::map<int, bool>& lines) {
  std::string text;
  for (auto at = lines.begin(); at != lines.end(); ++at) {
    if (at->second) continue;
    const int first = at->first;
    while (std::next(at) != lines.end() && !std::next(at)->second) ++at;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", first);
    if (at->first != first) text += fmt::format("-{}", at->first);
  }
  return text;
}

std::string kernels_text(const Notes& notes, const std::string& folder) {
  std::vector<const Kernel*> missed = sorted(notes);
  std::erase_if(missed, [](const Kernel* kernel) { return kernel->ran; });
  if (missed.empty()) return "";
  std::string text =
      fmt::format("never ran: {} of {} kernels\n", missed.size(), notes.kernels.size());
  const std::size_t shown = std::min(missed.size(), kMostRows);
  std::size_t width = 0;
  for (std::size_t i = 0; i < shown; ++i) width = std::max(width, missed[i]->name.size());
  for (std::size_t i = 0; i < shown; ++i)
    text += fmt::format("  {:<{}}  {}\n", missed[i]->name, width, place_of(*missed[i], folder));
  if (missed.size() > shown)
    text += fmt::format("  and {} more, which --json FILE lists\n", missed.size() - shown);
  return text;
}

std::string lines_text(const Notes& notes, const std::string& folder) {
  std::size_t count = 0, missed = 0, files = 0;
  std::string rows;
  for (const auto& [file, lines] : notes.lines) {
    const std::string text = missed_lines(lines);
    count += lines.size();
    missed += static_cast<std::size_t>(
        std::count_if(lines.begin(), lines.end(), [](const auto& line) { return !line.second; }));
    if (!text.empty() && ++files <= kMostRows)
      rows += fmt::format("  {}:{}\n", from_folder(file, folder), text);
  }
  if (missed == 0) return "";
  if (files > kMostRows)
    rows += fmt::format("  and {} more files, which --coverage FILE lists\n", files - kMostRows);
  return fmt::format("never reached: {} of {} lines of kernels\n{}", missed, count, rows);
}

} // namespace

std::string coverage_text(const Notes& notes, const std::string& folder) {
  return kernels_text(notes, folder) + lines_text(notes, folder);
}

nlohmann::json notes_json(const Notes& notes) {
  nlohmann::json kernels = nlohmann::json::array();
  for (const Kernel* kernel : sorted(notes))
    kernels.push_back({{"name", kernel->name},
                       {"file", kernel->file},
                       {"line", kernel->line},
                       {"ran", kernel->ran}});
  return {{"kernels", kernels}, {"inexact", notes.inexact}};
}

std::string lcov_of(const Notes& notes) {
  struct Function {
    std::string name;
    bool ran;
  };
  std::map<std::string, std::multimap<int, Function>> files;
  for (const auto& [file, lines] : notes.lines) files[file];
  for (const Kernel* kernel : sorted(notes))
    if (!kernel->file.empty())
      files[kernel->file].emplace(kernel->line, Function{kernel->name, kernel->ran});
  std::string text = "TN:\n";
  for (const auto& [file, functions] : files) {
    text += "SF:" + file + "\n";
    std::size_t ran = 0;
    const auto recorded = notes.lines.find(file);
    std::map<int, bool> lines =
        recorded == notes.lines.end() ? std::map<int, bool>() : recorded->second;
    for (const auto& [line, function] : functions) {
      text +=
          fmt::format("FN:{},{}\nFNDA:{:d},{}\n", line, function.name, function.ran, function.name);
      ran += function.ran;
      lines[line] |= function.ran;
    }
    text += fmt::format("FNF:{}\nFNH:{}\n", functions.size(), ran);
    std::size_t hit = 0;
    for (const auto& [line, reached] : lines) {
      text += fmt::format("DA:{},{:d}\n", line, reached);
      hit += reached;
    }
    text += fmt::format("LF:{}\nLH:{}\nend_of_record\n", lines.size(), hit);
  }
  return text;
}

} // namespace kg::coverage
