// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The independent blocks of an ordinary launch. Workers (OS threads) take them in index order, as
// many at a time as there are processors. A block that only polls stands aside: its worker sleeps,
// and another one begins the next block or goes on with the one that has slept longest. So all
// blocks that a GPU would hold at once make progress, on any number of processors.
//
// A launch that can never end is an error: no block can begin, and all that have begun only poll
// while memory stays as it is.
#pragma once

#include "runtime/host/block.h"
#include "runtime/host/block_indices.h"
#include "runtime/host/watch.h"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace kg::host {

class Residents;

// A worker, and the block that it runs.
class Resident {
 public:
  explicit Resident(Residents& all) : all_(all) {}

  // For a block whose threads have polled so many times since the last call, and do nothing else.
  // Returns when it is to go on; the reason why it must not, if there is one.
  std::exception_ptr stand_aside(Block& block, std::uint64_t polls);
  // Whether some block of the launch has stood aside.
  bool is_crowded() const;

 private:
  friend Residents;
  Residents& all_;
  std::condition_variable woken_;
  bool sleeps_ = false;
  std::uint64_t changes_ = 0; // that it had made when it stood aside last
  std::uint64_t period_ = 0;  // of quiet, in which it has stood aside as many times
  unsigned stands_ = 0;
  uint3 index_{};     // of its block
  std::string waits_; // what the threads of that wait for
};

class Residents final : public Watched {
 public:
  explicit Residents(const LaunchContext& launch);

  // Runs all blocks. Throws the failure of the lowest block that fails; later ones are not begun.
  void run();

 private:
  friend Resident;

  // Blocks are begun in index order, so every block below a failed one has begun and runs to its
  // end: which failure is reported does not depend on the number of OS threads or their timing.
  void fail(std::uint64_t block, std::exception_ptr reason);
  void work(Block& block, bool is_counted);
  bool can_begin() const; // another block, beside those that have begun
  bool add_worker();
  bool wake_first();
  void begin_period();
  std::exception_ptr stand_aside(Resident& me, Block& block, std::uint64_t polls);
  bool is_deadlock();
  std::exception_ptr give_up();
  std::string describe_deadlock() const;

  std::uint64_t progress() override;
  void add_workers(unsigned count) override;

  const LaunchContext& launch_;
  const BlockIndices indices_;
  const std::uint64_t blocks_;
  std::uint64_t limit_ = 0; // of blocks that are resident at once; 0: not known yet
  std::atomic<std::uint64_t> next_ = 0;
  std::atomic<bool> failed_ = false;
  std::atomic<bool> crowded_ = false; // some block has stood aside

  std::mutex mutex_;
  std::uint64_t failed_block_ = 0;
  std::exception_ptr failure_;
  unsigned live_ = 0;              // workers
  std::vector<Resident*> workers_; // those that have started
  std::vector<Resident*> asleep_;  // the longest first
  std::uint64_t period_ = 1;       // in which no block has begun, ended or changed memory
  std::uint64_t polls_ = 0;        // in it
  unsigned patient_ = 0;           // workers that have stood aside often enough in it
  std::uint64_t memory_ = 0;       // as it was at its begin; 0: not known
  std::uint64_t stands_ = 0;
  std::string lacks_; // why the system grants no further worker
  std::exception_ptr deadlock_;
  std::vector<std::unique_ptr<Block>> more_blocks_; // of the workers that were added
  std::vector<std::jthread> threads_;
  std::condition_variable ended_; // a worker
};

// How many blocks of a launch a virtual device holds at once: by threads, shared memory and the
// most that a multiprocessor takes (CUDA C++ Programming Guide, "Technical Specifications per
// Compute Capability").
std::uint64_t resident_blocks(dim3 block, std::size_t shared_bytes);

} // namespace kg::host
