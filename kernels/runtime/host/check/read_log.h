// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads that need no judgement. A buffer that was initialised before the launch and that nothing
// has written since is quiet: every aligned read of it is right, and all there is to remember is
// who read what, because a later write of the same launch may conflict with it. So reads of quiet
// buffers are only noted here, in runs of one stride, and entered into the shadow when, and if,
// anything else happens to the buffer. Most buffers stay quiet until the launch ends.
//
// What the shadow then gets is what it would have got at once, as long as nothing but barriers of
// whole blocks and whole warps orders the accesses of the launch: these never take back what they
// have ordered. Before anything else orders two threads, the log has to be closed.
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
  Access reader; // the first

  // Of the i-th read.
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

  // Forgets everything, for a launch. Nothing is noted before this.
  void open(Time launch_floor);
  // Notes nothing more until then, and returns what it has.
  std::vector<ReadRun> close();
  // The buffer in a range of at most a page, if there is one, is not quiet any more; returns what
  // was read of it, in order of time.
  std::vector<ReadRun> close(std::uintptr_t address, std::size_t bytes);

  // Notes a read that goes on with the run of its instruction. False if it is not that simple.
  bool continues(std::uintptr_t address, std::size_t bytes, const void* instruction,
                 unsigned thread, Time now) {
    Run& run = run_of(instruction);
    if (run.next != address || run.instruction != instruction || run.reads.bytes != bytes ||
        run.thread != thread || run.reads.reader.time != now || address - run.begin >= run.span)
      return false;
    advance(run);
    return true;
  }
  // Notes a read of the buffer that its instruction has read before. False if it is of another one,
  // or misaligned.
  bool resumes(std::uintptr_t address, std::size_t bytes, const void* instruction,
               const Access& reader) {
    Run& run = run_of(instruction);
    return run.instruction == instruction && run.reads.bytes == bytes &&
           address - run.begin < run.span && address % bytes == 0 && goes_on(run, address, reader);
  }
  // Notes any other read. False if it has to be judged instead.
  bool begins(std::uintptr_t address, std::size_t bytes, const void* instruction,
              const Access& reader);

 private:
  // Of an instruction: the run that it is in, and the buffer in which it is.
  struct Run {
    std::uintptr_t next = 0;
    const void* instruction = nullptr;
    std::uintptr_t begin = 0;
    std::size_t span = 0;   // of addresses where a read lies within the buffer; 0: of none
    unsigned thread = 0;    // rank of the next reader; the moment tells the block
    std::uint32_t left = 0; // reads to come in the row
    std::uintptr_t row_begin = 0;
    ReadRun reads;
  };

  static constexpr std::size_t kRuns = 512;
  static constexpr std::size_t kMaxNoted = std::size_t{1} << 20; // 40 MiB

  Run& run_of(const void* instruction) {
    const auto address = reinterpret_cast<std::uintptr_t>(instruction);
    return runs_[(address ^ address >> 9) % kRuns];
  }
  // Counts the read at run.next and foresees the one after it.
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
