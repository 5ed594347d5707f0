// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/code/resources/definition.h"

#include "runtime/atomic_file.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <optional>
#include <tuple>

namespace kg::resources {
namespace {

bool in_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

std::size_t skip_space(std::string_view text, std::size_t at) {
  while (at < text.size() && std::isspace(static_cast<unsigned char>(text[at]))) ++at;
  return at;
}

// The position after the parenthesis that closes the one at `at`.
std::size_t skip_parentheses(std::string_view text, std::size_t at) {
  int depth = 0;
  for (; at < text.size(); ++at) {
    if (text[at] == '(') ++depth;
    if (text[at] == ')' && --depth == 0) return at + 1;
  }
  return at;
}

// The position of the function's name in a declaration that continues at `at`, if it is called
// `name` and has a body. Words with parentheses that begin with two underscores are attributes
// (__launch_bounds__).
std::optional<std::size_t> name_if_defined(std::string_view text, std::size_t at,
                                           std::string_view name) {
  while (at < text.size() && text[at] != ';' && text[at] != '{') {
    if (!in_name(text[at])) {
      ++at;
      continue;
    }
    const std::size_t begin = at;
    while (at < text.size() && in_name(text[at])) ++at;
    const std::string_view word = text.substr(begin, at - begin);
    const std::size_t next = skip_space(text, at);
    if (next == text.size() || text[next] != '(') continue;
    at = skip_parentheses(text, next);
    if (word.starts_with("__")) continue;
    const std::size_t body = skip_space(text, at);
    if (word != name || body == text.size() || text[body] != '{') return std::nullopt;
    return begin;
  }
  return std::nullopt;
}

} // namespace

std::string_view last_name(std::string_view kernel) {
  kernel = kernel.substr(0, kernel.find('<'));
  const std::size_t colons = kernel.rfind("::");
  return colons == kernel.npos ? kernel : kernel.substr(colons + 2);
}

std::vector<std::filesystem::path> sources_in(const std::filesystem::path& folder,
                                              const std::string& first) {
  std::vector<std::filesystem::path> sources;
  if (!std::filesystem::is_directory(folder)) return sources;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string extension = entry.path().extension();
    if (extension == ".cu" || extension == ".cuh" || extension == ".h")
      sources.push_back(entry.path());
  }
  std::sort(sources.begin(), sources.end(), [&](const auto& a, const auto& b) {
    return std::tuple(a.stem() != first, a) < std::tuple(b.stem() != first, b);
  });
  return sources;
}

std::string definition_of(std::string_view kernel,
                          const std::vector<std::filesystem::path>& sources) {
  constexpr std::string_view kGlobal = "__global__";
  for (const std::filesystem::path& source : sources) {
    const std::string text = read_file(source).value_or("");
    for (std::size_t at = text.find(kGlobal); at != text.npos; at = text.find(kGlobal, at)) {
      at += kGlobal.size();
      if (const auto name = name_if_defined(text, at, last_name(kernel)))
        return fmt::format(
            "{}:{}", source.string(),
            1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(*name), '\n'));
    }
  }
  return "";
}

} // namespace kg::resources
