// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/host/check/read_log.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

namespace kg::check {
namespace {

void sort_by_time(std::vector<ReadRun>& reads) {
  std::stable_sort(reads.begin(), reads.end(), [](const ReadRun& a, const ReadRun& b) {
    return a.reader.time < b.reader.time;
  });
}

} // namespace

void ReadLog::open(Time launch_floor) {
  open_ = true;
  launch_floor_ = launch_floor;
  runs_.fill({});
  noted_.clear();
  quiet_.clear();
}

std::vector<ReadRun> ReadLog::close() {
  if (!std::exchange(open_, false)) return {};
  for (Run& run : runs_) {
    note(run);
    run = {};
  }
  sort_by_time(noted_);
  return std::exchange(noted_, {});
}

std::vector<ReadRun> ReadLog::close(std::uintptr_t address, std::size_t bytes) {
  if (!open_) return {};
  const Span buffer = memory_.buffer_in(address, bytes);
  if (!std::exchange(quiet_[buffer.begin], false)) return {};
  for (Run& run : runs_) {
    if (!buffer.contains(run.reads.first)) continue;
    note(run);
    run = {};
  }
  const auto of_buffer =
      std::stable_partition(noted_.begin(), noted_.end(),
                            [&buffer](const ReadRun& run) { return !buffer.contains(run.first); });
  std::vector<ReadRun> reads(of_buffer, noted_.end());
  noted_.erase(of_buffer, noted_.end());
  sort_by_time(reads);
  return reads;
}

bool ReadLog::goes_on(Run& run, std::uintptr_t address, const Access& reader) {
  ReadRun& reads = run.reads;
  const unsigned thread = reader.who & kThreadMask;
  if (reads.reader.time == reader.time) { // implies the same block
    const unsigned step = thread - (reads.reader.who & kThreadMask);
    if (reads.count == 1 && step <= 1) { // the second read defines the stride
      reads.stride = address - reads.first;
      reads.thread_step = step;
      run.next = address;
      run.thread = thread;
      run.left = std::numeric_limits<std::uint32_t>::max();
      advance(run);
      return true;
    }
    if (reads.count > 1 && reads.row == 0 &&
        thread == run.thread) { // this read defines the row length
      reads.row = reads.count;
      reads.row_stride = address - reads.first;
      run.next = run.row_begin = address;
      run.left = reads.row;
      advance(run);
      return true;
    }
  }
  if (noted_.size() >= kMaxNoted) return false;
  note(run);
  start(run, address, reader);
  return true;
}

bool ReadLog::begins(std::uintptr_t address, std::size_t bytes, const void* instruction,
                     const Access& reader) {
  if (!open_ || noted_.size() >= kMaxNoted || !std::has_single_bit(bytes) || bytes > 16 ||
      address % bytes != 0)
    return false;
  const Span buffer = memory_.buffer_in(address, bytes);
  if (!buffer.contains(address) || !buffer.contains(address + bytes - 1) || !is_quiet(buffer))
    return false;
  Run& run = run_of(instruction);
  note(run);
  run.instruction = instruction;
  run.begin = buffer.begin;
  run.span = buffer.bytes - bytes + 1;
  run.reads.bytes = static_cast<std::uint32_t>(bytes);
  start(run, address, reader);
  return true;
}

bool ReadLog::is_quiet(const Span& buffer) {
  const auto [quiet, is_new] = quiet_.try_emplace(buffer.begin, false);
  if (is_new) quiet->second = shadow_.written_by(launch_floor_, buffer.begin, buffer.bytes);
  return quiet->second;
}

void ReadLog::start(Run& run, std::uintptr_t address, const Access& reader) {
  run.reads = {.first = address, .count = 1, .bytes = run.reads.bytes, .reader = reader};
  run.next = 0; // stride not known yet
}

void ReadLog::note(Run& run) {
  if (run.reads.count != 0) noted_.push_back(run.reads);
}

} // namespace kg::check
