// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/report/kept_runs.h"

#include "runtime/error.h"

#include <cstdlib>
#include <fmt/format.h>
#include <system_error>

namespace kg::report {
namespace {

namespace fs = std::filesystem;

// A folder that is removed at the end of the scope, unless it has got its name by then.
class UnfinishedFolder {
 public:
  explicit UnfinishedFolder(const fs::path& parent) {
    fs::create_directories(parent);
    std::string name = (parent / ".unfinished-XXXXXX").string();
    require(mkdtemp(name.data()) != nullptr,
            fmt::format("{}: cannot make a folder; choose another one for the report", name));
    path_ = name;
    using fs::perms; // mkdtemp makes folders for the owner alone
    fs::permissions(path_, perms::owner_all | perms::group_read | perms::group_exec |
                               perms::others_read | perms::others_exec);
  }
  ~UnfinishedFolder() {
    std::error_code ignored; // its name says what it is
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  UnfinishedFolder(const UnfinishedFolder&) = delete;
  UnfinishedFolder& operator=(const UnfinishedFolder&) = delete;

  const fs::path& path() const { return path_; }
  // Whether no other folder has that name.
  bool rename_to(const fs::path& name) {
    std::error_code error;
    fs::rename(path_, name, error);
    if (error == std::errc::directory_not_empty || error == std::errc::file_exists) return false;
    require(!error, fmt::format("{}: cannot rename it to {}: {}", path_.string(), name.string(),
                                error.message()));
    path_.clear();
    return true;
  }

 private:
  fs::path path_;
};

} // namespace

fs::path keep_run(const fs::path& runs, std::string date_utc,
                  const std::function<void(const fs::path&)>& fill) {
  std::erase_if(date_utc, [](char c) { return c == '-' || c == ':'; });
  UnfinishedFolder made(runs);
  fill(made.path());
  fs::path kept = runs / date_utc;
  for (int number = 2; !made.rename_to(kept); ++number)
    kept = runs / fmt::format("{}-{}", date_utc, number);
  return kept;
}

} // namespace kg::report
