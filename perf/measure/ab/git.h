// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What the version history says about the source and about a baseline.
#pragma once

#include "runtime/error.h"

#include <cstddef>
#include <filesystem>
#include <string>

namespace kg::ab {

// The history at hand has no such commit.
class UnknownRef : public Error {
 public:
  using Error::Error;
};

// The full name of the commit that `ref` (a branch, tag, commit or HEAD~3) means in the work tree
// at `tree`. Throws UnknownRef, and Error where `tree` is no git work tree.
std::string commit_of(const std::filesystem::path& tree, const std::string& ref);

// The commit that last changed line `line`, counted from 1, of a committed file. Throws Error where
// the history does not say: the line is not committed, or a shallow clone ends before its commit.
std::string last_change(const std::filesystem::path& file, std::size_t line);

// Throws Error where `folder` (or the nearest folder above it that exists) is not in a git work
// tree, or where changes are staged there, naming them.
void require_nothing_staged(const std::filesystem::path& folder);

// Commits this file as it is, and nothing else, also where an ignore rule names it. Throws as
// require_nothing_staged, and Error where git refuses; then nothing stays staged.
void commit_file(const std::filesystem::path& file, const std::string& message);

// Writes the tree of `commit` as it is below `tree`, a work tree or a folder of one, to `folder`,
// which must exist. Unlike `git worktree` this leaves the repository as it is, whatever happens.
void export_commit(const std::filesystem::path& tree, const std::string& commit,
                   const std::filesystem::path& folder);

} // namespace kg::ab
