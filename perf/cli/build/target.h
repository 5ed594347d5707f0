// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What a command lacks in a build tree is built, and not asked for.
#pragma once

#include <filesystem>
#include <iosfwd>
#include <string>

namespace kg::build {

// Whether `program` lies in a folder that CMake builds in. An installed one does not.
bool is_in_build_tree(const std::filesystem::path& program, const std::filesystem::path& folder);

// A value of CMake's cache: the operations of a tree, KERNELGRADE_OPS. "" where it has none.
std::string cached(const std::filesystem::path& folder, const std::string& name);

// Configures a build tree again with this value in its cache. Throws Error as make() does.
void configure(const std::filesystem::path& folder, const std::string& name,
               const std::string& value);

// Builds a target of a build tree, if it is not up to date, and says on `console` how far it is:
// one line on a terminal, elsewhere one a minute. Builds of one tree wait for each other. Throws
// Error with the end of what the build said, and the command that repeats it.
void make(const std::filesystem::path& folder, const std::string& target, std::ostream& console);

// Whether make() would do nothing. It holds no lock and writes nothing. A tree that is not Ninja's
// is never known to be up to date.
bool is_up_to_date(const std::filesystem::path& folder, const std::string& target);

// What make() would do now, by a build tree of Ninja.
struct Outstanding {
  int steps = 0;      // of the build; 0: nothing
  double seconds = 0; // at the mean duration of this tree's steps so far, over all processors
};
// Throws Error where the tree has no such target, or no Ninja.
Outstanding outstanding(const std::filesystem::path& folder, const std::string& target);

} // namespace kg::build
