// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Queries the git history of the source and of baselines.
#pragma once

#include "runtime/error.h"

#include <cstddef>
#include <filesystem>
#include <string>

namespace kg::ab {

// The repository does not contain the commit.
class UnknownRef : public Error {
 public:
  using Error::Error;
};

// The full hash of the commit that `ref` (branch, tag, commit or HEAD~3) names in the work tree at
// `tree`. Throws UnknownRef, or Error if `tree` is not a git work tree.
std::string commit_of(const std::filesystem::path& tree, const std::string& ref);

// The commit that last changed line `line` (counted from 1) of a committed file. Throws Error if
// the line is not committed, or if a shallow clone does not contain its commit.
std::string last_change(const std::filesystem::path& file, std::size_t line);

// Throws Error if `folder`, or its nearest existing parent, is not in a git work tree. Also throws
// if changes are staged there, and names them.
void require_nothing_staged(const std::filesystem::path& folder);

// Commits only this file in its current state, even if an ignore rule matches it. Throws as
// require_nothing_staged(), and Error if git refuses. After an error nothing stays staged.
void commit_file(const std::filesystem::path& file, const std::string& message);

// Writes the tree of `commit` below `tree` (a work tree or one of its folders) to `folder`, which
// must exist. Unlike `git worktree`, this never changes the repository, even after an error.
void export_commit(const std::filesystem::path& tree, const std::string& commit,
                   const std::filesystem::path& folder);

} // namespace kg::ab
