// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/host/check/work_log.h"

#include <algorithm>
#include <iterator>

namespace kg::check {

WorkLog::Parts::iterator WorkLog::cut(std::uintptr_t address) {
  const auto next = parts_.lower_bound(address);
  if (next == parts_.begin()) return next;
  const auto before = std::prev(next);
  if (before->second.end <= address) return next;
  const auto rest = parts_.emplace_hint(next, address, before->second);
  before->second.end = address;
  return rest;
}

void WorkLog::enter(const Touched& access, const StreamWorkPointer& work, const Known& knows,
                    const Found& found) {
  const Entry mine{work, access.kind, access.site};
  cut(access.end);
  auto part = cut(access.begin);
  for (std::uintptr_t at = access.begin; at < access.end; ++part) {
    if (part == parts_.end() || part->first > at) { // a gap
      const std::uintptr_t end =
          part == parts_.end() ? access.end : std::min(access.end, part->first);
      part = parts_.emplace_hint(part, at, Part{end, {}});
    }
    std::vector<Entry>& entries = part->second.entries;
    at = part->second.end;
    // Work ordered after this access also knows accesses before it. Reads do not supersede writes.
    std::erase_if(entries, [&](const Entry& earlier) {
      if (earlier.work == work) return earlier.kind == access.kind;
      const bool ordered = knows(*earlier.work);
      if (!ordered && conflict(access.kind, earlier.kind)) {
        found({part->first, part->second.end, access.kind, access.site}, earlier);
        return true;
      }
      return ordered && (access.kind >= TouchKind::write || earlier.kind == access.kind);
    });
    entries.push_back(mine);
    // Merges adjacent bytes with the same accesses.
    if (part != parts_.begin()) {
      const auto before = std::prev(part);
      if (before->second.end == part->first && before->second.entries == entries) {
        before->second.end = part->second.end;
        parts_.erase(part);
        part = before;
      }
    }
  }
}

void WorkLog::find(const Touched& access, const Known& knows, const Found& found) const {
  auto part = parts_.upper_bound(access.begin);
  if (part != parts_.begin() && std::prev(part)->second.end > access.begin) --part;
  for (; part != parts_.end() && part->first < access.end; ++part) {
    for (const Entry& earlier : part->second.entries) {
      if (!conflict(access.kind, earlier.kind) || knows(*earlier.work)) continue;
      found({std::max(access.begin, part->first), std::min(access.end, part->second.end),
             access.kind, access.site},
            earlier);
    }
  }
}

void WorkLog::forget(std::uintptr_t address, std::size_t bytes) {
  if (parts_.empty() || bytes == 0) return;
  const auto end = cut(address + bytes);
  parts_.erase(cut(address), end);
}

} // namespace kg::check
