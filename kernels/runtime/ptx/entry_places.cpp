// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/ptx/entry_places.h"

#include "runtime/ptx/module.h"

#include <charconv>
#include <cstring>
#include <map>

namespace kg::ptx_run {
namespace {

// The text after the next `word`; empty if there is none. With memmem: texts are megabytes.
std::string_view behind(std::string_view text, std::string_view word) {
  const void* const found = ::memmem(text.data(), text.size(), word.data(), word.size());
  if (found == nullptr) return {};
  return text.substr(static_cast<std::size_t>(static_cast<const char*>(found) - text.data()) +
                     word.size());
}

// The same for a directive, which a blank follows: fat binaries have lines without indentation.
std::string_view behind_directive(std::string_view text, std::string_view word) {
  do text = behind(text, word);
  while (!text.empty() && text.front() != ' ' && text.front() != '\t');
  return text;
}

int take_number(std::string_view& text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  int number = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), number).ptr;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

// .file 1 "/home/me/k.cu"
std::map<int, std::string> files_of(std::string_view ptx) {
  std::map<int, std::string> files;
  for (std::string_view rest = behind_directive(ptx, ".file"); !rest.empty();
       rest = behind_directive(rest, ".file")) {
    const int number = take_number(rest);
    const std::size_t begin = rest.find('"') + 1, end = rest.find('"', begin);
    if (begin != 0 && end != rest.npos) files[number] = rest.substr(begin, end - begin);
  }
  return files;
}

// Kernels of CUB and Thrust that were compiled without -lineinfo.
bool is_named_by_toolkit(std::string_view mangled) {
  return mangled.starts_with("_ZN3cub") || mangled.starts_with("_ZN6thrust");
}

} // namespace

bool is_of_toolkit(std::string_view path) {
  const std::size_t include = path.find("/include/");
  if (include == std::string_view::npos) return false;
  const std::string_view folder = path.substr(0, include);
  if (folder.find("/targets/") != std::string_view::npos) return true;
  constexpr std::string_view kName = "cuda-";
  const std::string_view name = folder.substr(folder.rfind('/') + 1);
  return name.starts_with(kName) &&
         name.find_first_not_of("0123456789.", kName.size()) == std::string_view::npos;
}

std::vector<EntryPlace> entry_places(std::string_view ptx) {
  const std::map<int, std::string> files = files_of(ptx);
  std::vector<EntryPlace> places;
  for (std::string_view rest = behind(ptx, ".entry "); !rest.empty();) {
    EntryPlace& place = places.emplace_back();
    place.name = rest.substr(0, rest.find_first_of("( \t\r\n"));
    const std::string_view next = behind(rest, ".entry ");
    std::string_view loc = behind_directive(rest.substr(0, rest.size() - next.size()), ".loc");
    rest = next;
    if (!loc.empty()) {
      const int file = take_number(loc);
      place.line = take_number(loc);
      if (const auto found = files.find(file); found != files.end()) place.file = found->second;
    }
    place.of_toolkit = is_of_toolkit(place.file) || is_named_by_toolkit(place.name);
  }
  return places;
}

} // namespace kg::ptx_run
