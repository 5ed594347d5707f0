// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Build step that writes the C++ file with the definition of kg::identity::code_hashes().
//   hash_libraries <output> <runtime library> [<op>=<library>]...
// An operation is listed once per library that it runs.
#include "perf/code/identity/object_code.h"
#include "runtime/atomic_file.h"
#include "runtime/error.h"
#include "runtime/hash.h"

#include <cstdio>
#include <exception>
#include <fmt/format.h>
#include <map>
#include <string>
#include <vector>

namespace kg::identity {
namespace {

std::string hash_file(const std::string& path) {
  const std::optional<std::string> contents = read_file(path);
  if (!contents) throw Error(path + ": no such library; build it first");
  return hash_archive(*contents, path);
}

void write_hashes(const std::vector<std::string>& arguments) {
  if (arguments.size() < 2)
    throw Error("hash_libraries: give the output, the runtime library and <op>=<library>...");
  const std::string runtime = hash_file(arguments[1]);
  std::map<std::string, Hash> libraries_of;
  for (std::size_t i = 2; i < arguments.size(); ++i) {
    const std::size_t equals = arguments[i].find('=');
    if (equals == std::string::npos)
      throw Error("hash_libraries: expected <op>=<library>, got '" + arguments[i] + "'");
    libraries_of[arguments[i].substr(0, equals)].field(hash_file(arguments[i].substr(equals + 1)));
  }
  std::string rows;
  for (auto& [op, hash] : libraries_of)
    rows += fmt::format("      {{\"{}\", \"{}\"}},\n", op, hash.field(runtime).hex());
  const std::string file =
      fmt::format("// Written by the build (perf/code/identity/hash_libraries.cpp).\n"
                  "#include \"perf/code/identity/code_hashes.h\"\n\n"
                  "const std::map<std::string, std::string>& kg::identity::code_hashes() {{\n"
                  "  static const std::map<std::string, std::string> hashes = {{\n{}  }};\n"
                  "  return hashes;\n}}\n",
                  rows);
  // Keeps an unchanged file, so that nothing is rebuilt.
  if (read_file(arguments[0]) != file) write_file(arguments[0], file);
}

} // namespace
} // namespace kg::identity

int main(int argc, char** argv) {
  try {
    kg::identity::write_hashes({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
