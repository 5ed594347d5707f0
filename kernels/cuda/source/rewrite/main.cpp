// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// kernelgrade-rewrite: converts a CUDA source to C++ for the emulator. The build runs it
// (cmake/Foreign.cmake).
#include "cuda/source/rewrite/project.h"
#include "cuda/source/rewrite/tokens.h"

#include <cstdio>
#include <fstream>
#include <string_view>

namespace {

constexpr const char* kUsage =
    "usage: kernelgrade-rewrite SOURCE OUTPUT [--root DIR] [--copies DIR] [--depfile FILE] "
    "[--record] [-IDIR]... [OPTION]...\n"
    "  SOURCE     a CUDA source           OUTPUT  the C++ source to write\n"
    "  --root     the project's folder (default: that of SOURCE)\n"
    "  --copies   where copies of headers go, by their place in it (default: OUTPUT.headers)\n"
    "  --depfile  what was read, in make's words\n"
    "  --record   the program notes which kernels run (cuda/source/record.h)\n"
    "  OPTION     another one of the compiler, as -DX=1: it changes nothing\n";

// Escapes spaces and dollar signs for make.
std::string escaped(const std::string& path) {
  std::string text;
  for (char c : path) {
    if (c == ' ' || c == '#') text += '\\';
    if (c == '$') text += '$';
    text += c;
  }
  return text;
}

int run(int count, char** arguments) {
  namespace fs = std::filesystem;
  std::vector<fs::path> files;
  std::vector<fs::path> folders;
  fs::path root, copies, depfile;
  bool record = false;
  for (int i = 1; i < count; ++i) {
    const std::string_view word = arguments[i];
    fs::path* const option = word == "--root"      ? &root
                             : word == "--copies"  ? &copies
                             : word == "--depfile" ? &depfile
                                                   : nullptr;
    if (option && i + 1 < count) {
      *option = arguments[++i];
    } else if (word == "--record") {
      record = true;
    } else if (word.substr(0, 2) == "-I") {
      if (word.size() > 2) folders.emplace_back(word.substr(2));
    } else if (word.size() > 1 && word[0] == '-' && word[1] != '-') {
      continue; // for the compiler
    } else {
      files.emplace_back(word);
    }
  }
  if (files.size() != 2) {
    std::fputs(kUsage, stderr);
    return 2;
  }
  const fs::path source = fs::absolute(files[0]);
  if (root.empty()) root = source.parent_path();
  if (copies.empty()) copies = files[1].string() + ".headers";

  kg::rewrite::Project project(root, folders, fs::absolute(copies), record);
  project.write(source, fs::absolute(files[1]));
  if (!depfile.empty()) {
    std::ofstream out(depfile);
    out << escaped(files[1].string()) << ":";
    for (const fs::path& file : project.read()) out << " \\\n  " << escaped(file.string());
    out << "\n";
  }
  return 0;
}

} // namespace

int main(int count, char** arguments) try {
  return run(count, arguments);
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
