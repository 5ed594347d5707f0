// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Builds what a command needs in a build tree, without asking.
#pragma once

#include <filesystem>
#include <iosfwd>
#include <string>

namespace kg::build {

// Whether `program` is in a folder that CMake builds in. False for installed programs.
bool is_in_build_tree(const std::filesystem::path& program, const std::filesystem::path& folder);

// A value of CMake's cache: a tree's operations are KERNELGRADE_OPS. "" if it is not set.
std::string cached(const std::filesystem::path& folder, const std::string& name);

// Configures a build tree again with this cache value. Throws Error like make().
void configure(const std::filesystem::path& folder, const std::string& name,
               const std::string& value);

// Builds a target of a build tree unless it is up to date. Shows progress on `console`: one line on
// a terminal, otherwise a line per minute. Builds of one tree wait for each other. Throws Error
// with the end of the build's output and the command to repeat it.
void make(const std::filesystem::path& folder, const std::string& target, std::ostream& console);

// Whether make() would do nothing. Takes no lock and writes nothing. Always false for trees that do
// not use Ninja.
bool is_up_to_date(const std::filesystem::path& folder, const std::string& target);

// What make() would do now in a Ninja build tree.
struct Outstanding {
  int steps = 0;      // of the build; 0: nothing
  double seconds = 0; // at this tree's mean duration per step so far, over all processors
};
// Throws Error if the tree does not have this target or does not use Ninja.
Outstanding outstanding(const std::filesystem::path& folder, const std::string& target);

} // namespace kg::build
