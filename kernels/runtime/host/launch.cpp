// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Launches on the host backend: checks the configuration as a driver would, then hands the blocks
// to OS threads in index order.
#include "runtime/launch.h"

#include "runtime/host/block.h"
#include "runtime/host/block_group.h"
#include "runtime/host/queue.h"
#include "runtime/host/virtual_device.h"

#include <algorithm>
#include <atomic>
#include <dlfcn.h>
#include <exception>
#include <fmt/format.h>
#include <mutex>
#include <tbb/parallel_for.h>
#include <tbb/partitioner.h>
#include <tbb/task_arena.h>
#include <thread>

namespace kg {

namespace host {

using kg::detail::ErasedKernel;
using kg::detail::kernel_name;
namespace {

std::string text(dim3 d) { return fmt::format("({},{},{})", d.x, d.y, d.z); }

[[noreturn]] void refuse(const LaunchConfig& config, const void* kernel, const std::string& what) {
  fail(fmt::format("launch of {} with grid {}, block {}, {} bytes of shared memory: {}",
                   kernel_name(kernel), text(config.grid), text(config.block), config.shared_bytes,
                   what),
       config.where);
}

void validate(const LaunchConfig& config, const void* kernel) {
  const dim3 g = config.grid;
  const dim3 b = config.block;
  const dim3 c = config.cluster;
  const auto check = [&](bool ok, const std::string& what) {
    if (!ok) refuse(config, kernel, what);
  };
  check(g.x != 0 && g.y != 0 && g.z != 0, "every grid extent must be at least 1");
  check(b.x != 0 && b.y != 0 && b.z != 0, "every block extent must be at least 1");
  check(g.x <= unsigned{kMaxGridX}, "grid.x is limited to " + std::to_string(kMaxGridX));
  check(g.y <= unsigned{kMaxGridYz} && g.z <= unsigned{kMaxGridYz},
        "grid.y and grid.z are limited to " + std::to_string(kMaxGridYz));
  check(b.x <= unsigned{kMaxThreadsPerBlock} && b.y <= unsigned{kMaxThreadsPerBlock} &&
            b.z <= unsigned{kMaxBlockZ} &&
            std::uint64_t{b.x} * b.y * b.z <= unsigned{kMaxThreadsPerBlock},
        "a block is limited to " + std::to_string(kMaxThreadsPerBlock) + " threads and " +
            std::to_string(kMaxBlockZ) + " along z");
  check(config.shared_bytes <= kSharedBytesOptIn,
        "dynamic shared memory is limited to " + std::to_string(kSharedBytesOptIn) + " bytes");
  check(c.x != 0 && c.y != 0 && c.z != 0 && c.x * c.y * c.z <= unsigned{kMaxClusterBlocks},
        "a cluster has 1 to " + std::to_string(kMaxClusterBlocks) + " blocks");
  check(g.x % c.x == 0 && g.y % c.y == 0 && g.z % c.z == 0,
        "the grid must be a multiple of the cluster " + text(c));
  check(!config.cooperative || std::uint64_t{g.x} * g.y * g.z <= unsigned{kMaxCooperativeBlocks},
        "a cooperative grid is limited to " + std::to_string(kMaxCooperativeBlocks) + " blocks");
}

// Each OS thread's own executor; its stacks and tables are reused by every block and launch.
Block& thread_block() {
  thread_local const auto block = std::make_unique<Block>();
  return *block;
}

// The first failure of a launch; later blocks are not begun.
class Failure {
 public:
  void set(std::exception_ptr reason) {
    std::lock_guard lock(mutex_);
    if (!reason_) reason_ = std::move(reason);
    happened_ = true;
  }
  bool happened() const { return happened_; }
  void rethrow() {
    if (reason_) std::rethrow_exception(reason_);
  }

 private:
  std::mutex mutex_;
  std::exception_ptr reason_;
  std::atomic<bool> happened_ = false;
};

// Independent blocks: handed out in index order, so that a block may wait for an earlier one
// (look-back algorithms).
void run_blocks(const LaunchContext& launch) {
  const std::uint64_t blocks = std::uint64_t{launch.grid.x} * launch.grid.y * launch.grid.z;
  std::atomic<std::uint64_t> next = 0;
  Failure failure;
  const auto work = [&] {
    Block& block = thread_block();
    for (std::uint64_t i;
         !failure.happened() && (i = next.fetch_add(1, std::memory_order_relaxed)) < blocks;) {
      const uint3 index{static_cast<unsigned>(i % launch.grid.x),
                        static_cast<unsigned>(i / launch.grid.x % launch.grid.y),
                        static_cast<unsigned>(i / launch.grid.x / launch.grid.y)};
      try {
        block.run(launch, index, nullptr);
      } catch (...) {
        failure.set(std::current_exception());
      }
    }
  };
  int workers = launch.schedule.workers;
  if (workers == 0) workers = tbb::this_task_arena::max_concurrency();
  workers = static_cast<int>(std::min<std::uint64_t>(static_cast<std::uint64_t>(workers), blocks));
  if (workers <= 1) {
    work();
  } else {
    tbb::parallel_for(
        0, workers, [&](int) { work(); }, tbb::simple_partitioner{});
  }
  failure.rethrow();
}

// Blocks that may wait for each other: one OS thread each.
void run_group(const LaunchContext& launch, uint3 first, dim3 extent) {
  BlockGroup group(first, extent);
  Failure failure;
  std::vector<std::thread> threads;
  threads.reserve(group.size());
  for (unsigned rank = 0; rank < group.size(); ++rank) {
    threads.emplace_back([&, rank] {
      Block& block = thread_block();
      group.enter(rank, &block);
      try {
        block.run(launch, group.index(rank), &group);
      } catch (...) {
        failure.set(std::current_exception());
        group.fail();
      }
      group.leave();
    });
  }
  for (std::thread& thread : threads) thread.join();
  failure.rethrow();
}

void run_grid(const LaunchConfig& config, const ErasedKernel& kernel, void** arguments) {
  const LaunchContext launch{kernel.address, kernel.invoke,       arguments,  config.grid,
                             config.block,   config.shared_bytes, schedule(), kernel_name};
  const dim3 c = config.cluster;
  if (config.cooperative) {
    run_group(launch, {0, 0, 0}, config.grid);
  } else if (c.x * c.y * c.z > 1) {
    for (unsigned z = 0; z < config.grid.z; z += c.z) {
      for (unsigned y = 0; y < config.grid.y; y += c.y) {
        for (unsigned x = 0; x < config.grid.x; x += c.x) run_group(launch, {x, y, z}, c);
      }
    }
  } else {
    run_blocks(launch);
  }
}

} // namespace
} // namespace host

namespace detail {

void launch_erased(const LaunchConfig& config, const ErasedKernel& kernel,
                   const ErasedArguments& arguments) {
  host::validate(config, kernel.address);
  record_launch(config, kernel.address);
  if (host::Queue* queue = host::queue_of(config.stream); queue && queue->capturing()) {
    auto [owner, pointers] = arguments.clone(arguments.tuple);
    LaunchConfig copy = config;
    copy.stream = nullptr; // the graph runs on whatever stream replays it
    queue->record(
        [copy, kernel, owner = std::move(owner), pointers = std::move(pointers)]() mutable {
          host::run_grid(copy, kernel, pointers.data());
        });
    return;
  }
  host::run_grid(config, kernel, arguments.pointers);
}

std::string kernel_name(const void* kernel) {
  Dl_info info;
  if (!dladdr(kernel, &info) || !info.dli_sname) return "(kernel without a visible name)";
  return readable_kernel_name(info.dli_sname);
}

} // namespace detail
} // namespace kg
