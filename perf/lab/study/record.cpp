// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/lab/study/record.h"

#include "perf/format/named_path.h"
#include "perf/judge/shards.h"
#include "perf/lab/study/record_json.h"
#include "perf/measure/environment.h"
#include "runtime/atomic_file.h"
#include "runtime/descriptor.h"
#include "runtime/error.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <fmt/format.h>
#include <string_view>
#include <sys/file.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace kg::study {
namespace {

constexpr const char* kExtension = ".jsonl";
constexpr std::string_view kBeginning = "{\"kernelgrade_study\":"; // as header_json writes it

std::string contents_of(const std::filesystem::path& path) {
  const std::optional<std::string> contents = read_file(path);
  if (!contents)
    throw Error(path.string() + ": no such file; `kernelgrade study` writes them to "
                                "report/studies/");
  return *contents;
}

// The complete lines.
std::string_view whole_lines(std::string_view contents) {
  return contents.substr(0, contents.rfind('\n') + 1); // npos + 1 is 0
}

// A vendor's experiment counts like ours: all must run on one device.
void require_same_device(const Header& header, const Experiment& experiment,
                         const std::string& where) {
  const auto found = experiment.environment.find("device");
  if (found == experiment.environment.end()) return;
  const std::string& device = header.environment.at("device");
  require(found->second == device,
          fmt::format("{}: measured on {}, but the study is of {}", where, found->second, device));
}

Record parse(std::string_view contents, const std::filesystem::path& path) {
  Record record;
  std::size_t number = 0;
  for (std::string_view rest = whole_lines(contents); !rest.empty();) {
    const std::size_t end = rest.find('\n');
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end + 1);
    const std::string where = fmt::format("{}:{}", path.string(), ++number);
    if (number == 1) {
      record.header = header_from_json(line, where);
      continue;
    }
    Experiment experiment = experiment_from_json(line, where);
    const Planned planned = experiment.planned();
    const auto& plan = record.header.plan;
    require(std::find(plan.begin(), plan.end(), planned) != plan.end(),
            fmt::format("{}: {} {} is not in the study's plan; restore the file", where,
                        planned.case_id, planned.variant));
    require(record.find(planned) == nullptr, fmt::format("{}: {} {} is there twice; keep one",
                                                         where, planned.case_id, planned.variant));
    require_same_device(record.header, experiment, where);
    record.done.push_back(std::move(experiment));
  }
  require(number > 0, path.string() + ": it holds no whole line; begin the study anew");
  return record;
}

// Opens an existing file; the lock is released when the process ends, however it ends.
int open_alone(const std::filesystem::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDWR | O_APPEND | O_CLOEXEC);
  if (descriptor < 0) kg::fail_with_errno("open", path);
  if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) return descriptor;
  ::close(descriptor);
  throw Error(path.string() + ": another process goes on with this study; wait for it");
}

using Texts = std::map<std::string, std::string>;

std::string value(const Texts& texts, const std::string& key) {
  const auto found = texts.find(key);
  return found == texts.end() ? "nothing" : found->second;
}

void add_differences(const Texts& stored, const Texts& now, const std::string& what,
                     std::vector<std::string>& differences) {
  Texts all = now;
  all.insert(stored.begin(), stored.end());
  for (const auto& entry : all) {
    const std::string there = value(stored, entry.first), here = value(now, entry.first);
    if (there != here)
      differences.push_back(
          fmt::format("{}{} is {} there and {} here", what, entry.first, there, here));
  }
}

} // namespace

const Experiment* Record::find(const Planned& planned) const {
  const auto found = std::find_if(done.begin(), done.end(), [&](const Experiment& experiment) {
    return experiment.planned() == planned;
  });
  return found == done.end() ? nullptr : &*found;
}

bool is_record(const std::filesystem::path& path) {
  return read_file(path).value_or("").starts_with(kBeginning);
}

Record load_record(const std::filesystem::path& path) { return parse(contents_of(path), path); }

Record load_undivided(const std::filesystem::path& path) {
  Record record = load_record(path);
  if (const auto& shard = record.header.shard)
    throw Error(
        fmt::format("{}: it is shard {} of a study; join all of them by `kernelgrade merge`",
                    path.string(), judge::text(*shard)));
  return record;
}

void save_record(const std::filesystem::path& path, const Record& record) {
  std::string contents = to_json(record.header) + "\n";
  for (const Experiment& experiment : record.done) contents += to_json(experiment) + "\n";
  write_file(path, contents);
}

std::vector<std::string> differences(const Header& there, const Header& here) {
  std::vector<std::string> found;
  if (there.study != here.study)
    found.push_back(fmt::format("it is the study {}, not {}", there.study, here.study));
  else
    add_differences(there.settings, here.settings, "--", found);
  add_differences(perf::fingerprint(there.environment), perf::fingerprint(here.environment),
                  "the machine's ", found);
  if (there.program != here.program)
    found.push_back(fmt::format(
        "it was begun by another build (source {}, program {}) than this one (source {}, program "
        "{})",
        there.environment.at("source"), there.program.substr(0, 12), here.environment.at("source"),
        here.program.substr(0, 12)));
  return found;
}

void require_same_study(const Header& stored, const Header& now,
                        const std::filesystem::path& path) {
  std::vector<std::string> found = differences(stored, now);
  if (stored.shard != now.shard)
    found.push_back(fmt::format("it is {} there and {} here", judge::division_text(stored.shard),
                                judge::division_text(now.shard)));
  if (found.empty() && stored.plan != now.plan) found.emplace_back("it plans other experiments");
  if (found.empty()) return;
  std::string text = path.string() + ": this study cannot be gone on with here:";
  for (const std::string& difference : found) text += "\n  " + difference;
  throw Error(text + "\nGo on with it where it began, or begin a new one without --resume.");
}

std::optional<std::filesystem::path> newest_unfinished(const std::filesystem::path& folder,
                                                       const Header& now) {
  std::optional<std::filesystem::path> newest;
  std::string date;
  if (!std::filesystem::exists(folder)) return newest;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(now.study + "-") || entry.path().extension() != kExtension) continue;
    const Record record = load_record(entry.path());
    if (record.finished() || record.header.settings != now.settings ||
        record.header.shard != now.shard)
      continue;
    if (newest && record.header.date_utc < date) continue;
    newest = entry.path();
    date = record.header.date_utc;
  }
  return newest;
}

RecordFile::RecordFile(std::filesystem::path path, int descriptor)
    : path_(std::move(path)), descriptor_(descriptor) {}

RecordFile::RecordFile(RecordFile&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)),
      record_(std::move(other.record_)) {}

RecordFile::~RecordFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

RecordFile RecordFile::begin(const std::filesystem::path& folder, const Header& header) {
  std::string time = header.date_utc;
  std::erase_if(time, [](char c) { return c == ':' || c == '-'; });
  const auto name = [&](int number) {
    return judge::named_path(folder, "study", fmt::format("{}-{}", header.study, time),
                             (number > 1 ? fmt::format("-{}", number) : "") + kExtension);
  };
  int number = 1;
  while (std::filesystem::exists(name(number))) ++number; // a name of the same second is taken
  write_file(name(number), to_json(header) + "\n");       // complete, or not at all
  return resume(name(number));
}

RecordFile RecordFile::resume(const std::filesystem::path& path) {
  RecordFile file(path, open_alone(path));
  const std::string contents = contents_of(path);
  file.record_ = parse(contents, path);
  const std::size_t whole = whole_lines(contents).size();
  if (whole != contents.size() && ::ftruncate(file.descriptor_, static_cast<off_t>(whole)) != 0)
    kg::fail_with_errno("cut the half line off", path);
  return file;
}

void RecordFile::append(const Experiment& experiment) {
  require_same_device(record_.header, experiment, path_.string());
  kg::write_all(descriptor_, to_json(experiment) + "\n", path_);
  if (::fsync(descriptor_) != 0) kg::fail_with_errno("flush", path_);
  record_.done.push_back(experiment);
}

} // namespace kg::study
