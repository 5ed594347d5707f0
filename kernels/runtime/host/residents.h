// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The independent blocks of an ordinary launch. Workers (OS threads) take them in index order, as
// many at a time as there are processors. A block that only polls stands aside: its worker sleeps,
// and another worker begins the next block or resumes the block that has slept longest. So all
// blocks that a GPU would hold at once make progress, on any number of processors.
//
// A launch that can never end is an error: no further block can begin, and all running blocks only
// poll while memory does not change.
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

// A worker and the block that it runs.
class Resident {
 public:
  explicit Resident(Residents& all) : all_(all) {}

  // Called for a block whose threads did nothing but poll, `polls` times since the last call.
  // Returns when the block may continue, or the reason why it must not.
  std::exception_ptr stand_aside(Block& block, std::uint64_t polls);
  // Whether any block of the launch has stood aside.
  bool is_crowded() const;

 private:
  friend Residents;
  Residents& all_;
  std::condition_variable woken_;
  bool sleeps_ = false;
  std::uint64_t changes_ = 0; // made by the block when it last stood aside
  std::uint64_t period_ = 0;  // the quiet period in which it has stood aside `stands_` times
  unsigned stands_ = 0;
  uint3 index_{};     // of the block
  std::string waits_; // what its threads wait for
};

class Residents final : public Watched {
 public:
  explicit Residents(const LaunchContext& launch);

  // Runs all blocks. Throws the failure of the lowest failing block; later blocks do not begin.
  void run();

 private:
  friend Resident;

  // Blocks begin in index order, so every block below a failed one has begun and runs to its end.
  // The reported failure therefore does not depend on the number of OS threads or their timing.
  void fail(std::uint64_t block, std::exception_ptr reason);
  void work(Block& block, bool is_counted);
  bool can_begin() const; // whether another block fits beside the running ones
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
  std::uint64_t limit_ = 0; // on resident blocks; 0: not known yet
  std::atomic<std::uint64_t> next_ = 0;
  std::atomic<bool> failed_ = false;
  std::atomic<bool> crowded_ = false; // some block has stood aside

  std::mutex mutex_;
  std::uint64_t failed_block_ = 0;
  std::exception_ptr failure_;
  unsigned live_ = 0;              // workers
  std::vector<Resident*> workers_; // started workers
  std::vector<Resident*> asleep_;  // longest sleeper first
  std::uint64_t period_ = 1;       // in which no block begins, ends or changes memory
  std::uint64_t polls_ = 0;        // in this period
  unsigned patient_ = 0;           // workers that have stood aside often enough in this period
  std::uint64_t memory_ = 0;       // hash at the start of the period; 0: not known
  std::uint64_t stands_ = 0;
  std::string lacks_; // why the system grants no further worker
  std::exception_ptr deadlock_;
  std::vector<std::unique_ptr<Block>> more_blocks_; // for added workers
  std::vector<std::jthread> threads_;
  std::condition_variable ended_; // signals that a worker has ended
};

// The number of a launch's blocks that a virtual device holds at once: limited by threads, shared
// memory and blocks per SM (CUDA C++ Programming Guide, "Technical Specifications per Compute
// Capability").
std::uint64_t resident_blocks(dim3 block, std::size_t shared_bytes);

} // namespace kg::host
