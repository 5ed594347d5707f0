// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads that need no check. A buffer is quiet if it was initialized before the launch and not
// written since. Every aligned read of a quiet buffer is valid; only the readers must be recorded,
// because a later write of the same launch may conflict with them. So these reads are only logged
// here, in strided runs. They move to the shadow only if another kind of access touches the buffer.
// Most buffers stay quiet until the launch ends.
//
// The shadow then gets the same state as by immediate recording, as long as only barriers of whole
// blocks and whole warps order the launch's accesses: such ordering is never undone. Before any
// other synchronization between two threads, the log must be closed.
#pragma once

#include "runtime/host/check/memory_map.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace kg::check {

// A strided run of reads by one instruction: `count` reads of `bytes` bytes, `stride` bytes apart,
// by one thread (thread_step 0) or by consecutive threads (1). Or a 2-D run: rows of `row` reads
// `stride` bytes apart, rows `row_stride` bytes apart, as matrix loops and cooperative tile loads
// produce.
struct ReadRun {
  std::uintptr_t first = 0;
  std::uintptr_t stride = 0;     // modulo 2^64, may be negative
  std::uintptr_t row_stride = 0; // likewise
  std::uint32_t row = 0;         // 0: a single row
  std::uint32_t count = 0;
  std::uint32_t bytes = 0;
  std::uint32_t thread_step = 0;
  Access reader{}; // the first one

  // The address of the i-th read.
  std::uintptr_t address(std::uint32_t i) const {
    return row == 0 ? first + i * stride : first + i / row * row_stride + i % row * stride;
  }
  Access reader_of(std::uint32_t i) const {
    return {reader.time, reader.who + i * thread_step, reader.site};
  }
};

class ReadLog {
 public:
  ReadLog(const MemoryMap& memory, Shadow& shadow) : memory_(memory), shadow_(shadow) {}

  // Clears the log for a launch and starts logging.
  void open(Time launch_floor);
  // Stops logging until the next open(), and returns the log.
  std::vector<ReadRun> close();
  // The buffer, if any, in a range of at most a page is no longer quiet. Returns its logged reads
  // in time order.
  std::vector<ReadRun> close(std::uintptr_t address, std::size_t bytes);

  // Logs a read that continues its instruction's run. False if the read does not.
  bool continues(std::uintptr_t address, std::size_t bytes, const void* instruction,
                 unsigned thread, Time now) {
    Run& run = run_of(instruction);
    if (run.next != address || run.instruction != instruction || run.reads.bytes != bytes ||
        run.thread != thread || run.reads.reader.time != now || address - run.begin >= run.span)
      return false;
    advance(run);
    return true;
  }
  // Logs a read of the buffer that its instruction has read before. False if it reads another
  // buffer or is misaligned.
  bool resumes(std::uintptr_t address, std::size_t bytes, const void* instruction,
               const Access& reader) {
    Run& run = run_of(instruction);
    return run.instruction == instruction && run.reads.bytes == bytes &&
           address - run.begin < run.span && address % bytes == 0 && goes_on(run, address, reader);
  }
  // Logs any other read. False if it has to be checked instead.
  bool begins(std::uintptr_t address, std::size_t bytes, const void* instruction,
              const Access& reader);

 private:
  // The current run and buffer of an instruction.
  struct Run {
    std::uintptr_t next = 0;
    const void* instruction = nullptr;
    std::uintptr_t begin = 0;
    std::size_t span = 0;   // of start addresses that keep the read within the buffer; 0: none
    unsigned thread = 0;    // rank of the next reader; the moment implies the block
    std::uint32_t left = 0; // remaining reads in the row
    std::uintptr_t row_begin = 0;
    ReadRun reads;
  };

  static constexpr std::size_t kRuns = 512;
  static constexpr std::size_t kMaxNoted = std::size_t{1} << 20; // 40 MiB

  Run& run_of(const void* instruction) {
    const auto address = reinterpret_cast<std::uintptr_t>(instruction);
    return runs_[(address ^ address >> 9) % kRuns];
  }
  // Counts the read at run.next and predicts the next one.
  static void advance(Run& run) {
    ++run.reads.count;
    run.thread += run.reads.thread_step;
    if (--run.left != 0) {
      run.next += run.reads.stride;
    } else {
      run.next = run.row_begin += run.reads.row_stride;
      run.left = run.reads.row;
    }
  }
  bool is_quiet(const Span& buffer);
  bool goes_on(Run& run, std::uintptr_t address, const Access& reader);
  void start(Run& run, std::uintptr_t address, const Access& reader);
  void note(Run& run);

  const MemoryMap& memory_;
  Shadow& shadow_;
  bool open_ = false;
  Time launch_floor_ = 0;
  std::array<Run, kRuns> runs_;
  std::vector<ReadRun> noted_;
  std::unordered_map<std::uintptr_t, bool>
      quiet_; // by the addresses of buffers seen in this launch
};

} // namespace kg::check
