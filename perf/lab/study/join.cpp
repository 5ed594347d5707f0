// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/lab/study/join.h"

#include "perf/judge/shards.h"
#include "runtime/error.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>
#include <set>
#include <string>

namespace kg::study {
namespace {

using Files = std::vector<std::filesystem::path>;

void require_all(const Files& files, const std::vector<Record>& parts) {
  std::vector<std::optional<judge::Shard>> shards;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    shards.push_back(parts[i].header.shard);
    require(shards[i].has_value(),
            files[i].string() + ": it is a study that was not divided; leave it out");
  }
  judge::require_every_shard(files, shards);
}

void require_one_study(const Files& files, const std::vector<Record>& parts) {
  const Header& first = parts.front().header;
  for (std::size_t i = 1; i < parts.size(); ++i) {
    std::vector<std::string> apart = differences(parts[i].header, first);
    if (apart.empty() && (parts[i].header.points != first.points ||
                          parts[i].header.shard->whole != first.shard->whole))
      apart.emplace_back("it plans other experiments");
    require(apart.empty(), fmt::format("{} and {} are not of one study:\n  {}", files[i].string(),
                                       files.front().string(), fmt::join(apart, "\n  ")));
  }
}

void require_finished(const Files& files, const std::vector<Record>& parts) {
  for (std::size_t i = 0; i < parts.size(); ++i)
    require(parts[i].finished(),
            fmt::format("{}: shard {} has {} of {} experiments; go on with it by --resume",
                        files[i].string(), judge::text(*parts[i].header.shard),
                        parts[i].done.size(), parts[i].header.plan.size()));
}

} // namespace

Record join(const Files& files) {
  std::vector<Record> parts;
  for (const std::filesystem::path& file : files) parts.push_back(load_record(file));
  require_all(files, parts);
  require_one_study(files, parts);
  require_finished(files, parts);
  Record whole{parts.front().header, {}};
  whole.header.shard.reset();
  whole.header.plan.clear();
  for (const Record& part : parts)
    whole.header.date_utc = std::min(whole.header.date_utc, part.header.date_utc);
  std::set<std::string> seen; // a case may be a point of several groups
  for (const Point& point : whole.header.points) {
    if (!seen.insert(point.case_id).second) continue;
    for (const Record& part : parts)
      for (const Planned& planned : part.header.plan) {
        if (planned.case_id != point.case_id) continue;
        whole.header.plan.push_back(planned);
        whole.done.push_back(*part.find(planned));
      }
  }
  return whole;
}

} // namespace kg::study
