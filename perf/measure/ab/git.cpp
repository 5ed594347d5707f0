// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/ab/git.h"

#include "perf/measure/child_process.h"

#include <algorithm>
#include <fmt/format.h>
#include <vector>

namespace kg::ab {
namespace {

using perf::Finished;
using perf::Output;

Finished git(const std::filesystem::path& folder, std::vector<std::string> arguments) {
  std::vector<std::string> command = {"git", "--no-optional-locks", "-C", folder.string()};
  command.insert(command.end(), arguments.begin(), arguments.end());
  Finished finished = perf::run_process(command, Output::capture);
  while (!finished.output.empty() && finished.output.back() == '\n') finished.output.pop_back();
  return finished;
}

bool is_shallow(const std::filesystem::path& folder) {
  return git(folder, {"rev-parse", "--is-shallow-repository"}).output == "true";
}

void require_work_tree(const std::filesystem::path& folder) {
  require(git(folder, {"rev-parse", "--is-inside-work-tree"}).output == "true",
          fmt::format("{}: it is not in a git work tree, so no earlier commit can be built; use a "
                      "clone of the repository",
                      folder.string()));
}

} // namespace

std::string commit_of(const std::filesystem::path& tree, const std::string& ref) {
  require_work_tree(tree);
  const Finished found =
      git(tree, {"rev-parse", "--verify", "--quiet", "--end-of-options", ref + "^{commit}"});
  if (found.exit_code == 0) return found.output;
  throw UnknownRef(fmt::format("{}: {} has no such commit, branch or tag{}", ref, tree.string(),
                               is_shallow(tree) ? "; it is a shallow clone: git fetch --unshallow"
                                                : "; see git log"));
}

std::string last_change(const std::filesystem::path& file, std::size_t line) {
  const std::filesystem::path folder = file.parent_path();
  require_work_tree(folder);
  const Finished blame = git(folder, {"blame", "--porcelain", "-L", fmt::format("{0},{0}", line),
                                      "--", file.filename().string()});
  require(blame.exit_code == 0,
          fmt::format("{}:{}: git knows no such line; commit the file", file.string(), line));
  const std::string commit = blame.output.substr(0, blame.output.find(' '));
  require(commit.find_first_not_of('0') != std::string::npos,
          fmt::format("{}:{}: the line is not committed yet; commit it", file.string(), line));
  // The first commit of a complete history is also a boundary, but it did change the line.
  require(blame.output.find("\nboundary\n") == std::string::npos || !is_shallow(folder),
          fmt::format("{}:{}: the history ends before the line's last change, since this is a "
                      "shallow clone; git fetch --unshallow",
                      file.string(), line));
  return commit;
}

void require_nothing_staged(const std::filesystem::path& folder) {
  std::filesystem::path there = std::filesystem::absolute(folder);
  while (!std::filesystem::exists(there)) there = there.parent_path();
  require(
      git(there, {"rev-parse", "--is-inside-work-tree"}).output == "true",
      fmt::format("{}: it is not in a git work tree, so nothing can be committed there; leave out "
                  "--commit",
                  folder.string()));
  std::string staged = git(there, {"diff", "--cached", "--name-only"}).output;
  std::replace(staged.begin(), staged.end(), '\n', ' ');
  require(staged.empty(),
          fmt::format("other changes are staged for commit ({}); commit them, or unstage them by "
                      "git restore --staged",
                      staged));
}

void commit_file(const std::filesystem::path& file, const std::string& message) {
  const std::filesystem::path whole = std::filesystem::absolute(file);
  const std::filesystem::path folder = whole.parent_path();
  require_nothing_staged(folder);
  const auto refused = [&](const char* command) {
    git(folder, {"reset", "--quiet", "--", whole.string()});
    fail(fmt::format("{}: git {} refused; try it by hand to see why", file.string(), command));
  };
  if (git(folder, {"add", "--force", "--", whole.string()}).exit_code != 0) refused("add");
  if (git(folder, {"commit", "--quiet", "--message", message, "--", whole.string()}).exit_code != 0)
    refused("commit");
}

void export_commit(const std::filesystem::path& tree, const std::string& commit,
                   const std::filesystem::path& folder) {
  const std::filesystem::path archive = folder / ".archive.tar";
  const Finished written =
      git(tree, {"archive", "--format=tar", "--output", archive.string(), commit});
  require(written.exit_code == 0, fmt::format("git archive {} failed in {}; is there space for {}?",
                                              commit, tree.string(), archive.string()));
  const Finished unpacked =
      perf::run_process({"tar", "-xf", archive.string(), "-C", folder.string()}, Output::to_stderr);
  require(unpacked.exit_code == 0,
          fmt::format("tar cannot unpack {} (exit code {})", archive.string(), unpacked.exit_code));
  std::filesystem::remove(archive);
}

} // namespace kg::ab
