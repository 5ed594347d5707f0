// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/report/kept_runs.h"

#include "runtime/error.h"

#include <cstdlib>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <regex>
#include <system_error>
#include <utility>

namespace kg::report {
namespace {

namespace fs = std::filesystem;

// A folder that is removed at the end of the scope unless it was renamed before.
class UnfinishedFolder {
 public:
  explicit UnfinishedFolder(const fs::path& parent) {
    fs::create_directories(parent);
    std::string name = (parent / ".unfinished-XXXXXX").string();
    require(mkdtemp(name.data()) != nullptr,
            fmt::format("{}: cannot make a folder; choose another one for the report", name));
    path_ = name;
    using fs::perms; // mkdtemp restricts access to the owner
    fs::permissions(path_, perms::owner_all | perms::group_read | perms::group_exec |
                               perms::others_read | perms::others_exec);
  }
  ~UnfinishedFolder() {
    std::error_code ignored; // its name marks it as unfinished
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  UnfinishedFolder(const UnfinishedFolder&) = delete;
  UnfinishedFolder& operator=(const UnfinishedFolder&) = delete;

  const fs::path& path() const { return path_; }
  // Renames the folder. Returns whether the name was free.
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

// When a run was kept, from its folder's name, as a sortable value. Empty if the folder is not such
// a run.
using Kept = std::pair<std::string, unsigned long>; // time, and number within that second
std::optional<Kept> kept_at(const fs::directory_entry& entry) {
  static const std::regex form(R"((\d{8}T\d{6}Z)(?:-([1-9]\d{0,8}))?)");
  std::smatch found;
  const std::string name = entry.path().filename();
  if (entry.is_symlink() || !entry.is_directory() || !std::regex_match(name, found, form) ||
      !fs::exists(entry.path() / "report.json"))
    return std::nullopt;
  return Kept{found[1], found[2].matched ? std::stoul(found[2]) : 1};
}

// Renames the folder first, so that a folder with a run's name is always complete.
bool remove_run(const fs::path& run) {
  const fs::path doomed = run.parent_path() / (".removed-" + run.filename().string());
  std::error_code error;
  fs::rename(run, doomed, error);
  if (!error) fs::remove_all(doomed, error);
  return !error;
}

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

std::size_t prune_runs(const fs::path& runs, std::size_t most, const fs::path& newest) {
  std::map<Kept, fs::path> older;
  for (const fs::directory_entry& entry : fs::directory_iterator(runs))
    if (const auto kept = kept_at(entry); kept && entry.path().filename() != newest.filename())
      older.emplace(*kept, entry.path());
  std::size_t removed = 0, left = older.size();
  for (const auto& [kept, run] : older) { // oldest first
    if (left-- < most) break;
    removed += remove_run(run);
  }
  return removed;
}

} // namespace kg::report
