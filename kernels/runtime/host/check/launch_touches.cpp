// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/host/check/launch_touches.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace kg::check {
namespace {

// Consecutive reads without gaps.
bool is_dense(const ReadRun& run) {
  const std::uintptr_t backwards = std::uintptr_t{0} - run.bytes;
  return run.stride == run.bytes || run.stride == backwards || run.stride == 0 || run.count == 1;
}

auto where(const ReadRun& run) {
  return std::tie(run.first, run.stride, run.row_stride, run.row, run.count, run.bytes);
}

} // namespace

bool LaunchTouches::counts(Site site) {
  if (site != asked_) answer_ = counts_(asked_ = site);
  return answer_;
}

void LaunchTouches::add(std::uintptr_t begin, std::uintptr_t end, TouchKind kind, Site site) {
  if (!counts(site)) return;
  if (!touched_.empty() && touched_.back().end == begin && touched_.back().kind == kind) {
    touched_.back().end = end;
  } else {
    touched_.push_back({begin, end, kind, site});
  }
}

void LaunchTouches::add(const Page& page, Time from, Reads read_enough) {
  if (!page.has_cells()) return;
  const std::uintptr_t cell_bytes = std::uintptr_t{1} << page.shift;
  std::uintptr_t at = page.number << kPageBits;
  for (std::size_t i = 0; i < page.cell_count(); ++i, at += cell_bytes) {
    const Cell& cell = page.cells[i];
    if (cell.written >= from) {
      const bool atomic = (cell.writer & kAtomic) != 0;
      add(at, at + cell_bytes, atomic ? TouchKind::atomic : TouchKind::write, cell.write_site);
    } else if (cell.reads == read_enough || (cell.reads < kReadEnough && cell.reads / 2 >= from)) {
      TouchKind kind = TouchKind::atomic;
      Site site = 0;
      for (const Access& access : page.history[i].others) {
        if (access.time < from) continue;
        if (site == 0 || !(access.who & kAtomic)) site = access.site;
        if (!(access.who & kAtomic)) kind = TouchKind::read;
      }
      if (site != 0) add(at, at + cell_bytes, kind, site);
    }
  }
}

void LaunchTouches::add(std::vector<ReadRun> reads) {
  // Different blocks often read the same data.
  std::sort(reads.begin(), reads.end(),
            [](const ReadRun& a, const ReadRun& b) { return where(a) < where(b); });
  const auto end = std::unique(reads.begin(), reads.end(), [](const ReadRun& a, const ReadRun& b) {
    return where(a) == where(b);
  });
  for (auto run = reads.begin(); run != end; ++run) {
    const std::uint32_t step = !is_dense(*run) ? 1 : run->row == 0 ? run->count : run->row;
    for (std::uint32_t i = 0; i < run->count; i += step) {
      const std::uint32_t last = std::min(i + step, run->count) - 1;
      const std::uintptr_t first = run->address(i), end = run->address(last);
      add(std::min(first, end), std::max(first, end) + run->bytes, TouchKind::read,
          run->reader.site);
    }
  }
}

std::vector<Touched> LaunchTouches::take() {
  std::sort(touched_.begin(), touched_.end(), [](const Touched& a, const Touched& b) {
    return std::tie(a.begin, a.kind) < std::tie(b.begin, b.kind);
  });
  std::vector<Touched> merged;
  for (const Touched& next : touched_) {
    if (!merged.empty() && merged.back().kind == next.kind && next.begin <= merged.back().end) {
      merged.back().end = std::max(merged.back().end, next.end);
    } else {
      merged.push_back(next);
    }
  }
  touched_.clear();
  return merged;
}

} // namespace kg::check
