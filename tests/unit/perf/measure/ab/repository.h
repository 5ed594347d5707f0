// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A throw-away git repository.
#pragma once

#include "perf/measure/child_process.h"
#include "runtime/atomic_file.h"
#include "runtime/error.h"
#include "tests/unit/perf/judge/folder.h"

#include <filesystem>
#include <string>

namespace kg::ab::test {

class Repository {
 public:
  Repository() { in_tree("git init -q ."); }

  std::filesystem::path tree() const { return folder_.path() / "tree"; }
  std::filesystem::path beside() const { return folder_.path(); } // no work tree
  std::filesystem::path path(const std::string& name) const { return tree() / name; }

  void write(const std::string& name, const std::string& contents) const {
    write_file(path(name), contents);
  }

  // Commits everything and returns the commit.
  std::string commit() const {
    in_tree("git add -A && git -c user.name=t -c user.email=t@t commit -q -m change");
    return in_tree("git rev-parse HEAD | tr -d '\\n'");
  }

  // Runs a script in the tree and returns its output; throws where it fails.
  std::string in_tree(const std::string& script) const {
    std::filesystem::create_directories(tree());
    const perf::Finished finished = perf::run_process(
        {"sh", "-c", "cd \"$1\" && " + script, "sh", tree().string()}, perf::Output::capture);
    require(finished.exit_code == 0, script + " failed");
    return finished.output;
  }

 private:
  judge::test::Folder folder_;
};

} // namespace kg::ab::test
