// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Launches on the host backend: checks the configuration as a driver would, then runs the blocks.
#include "runtime/launch.h"

#include "runtime/device.h"
#include "runtime/host/block.h"
#include "runtime/host/block_group.h"
#include "runtime/host/grid_window.h"
#include "runtime/host/idle_blocks.h"
#include "runtime/host/launch_timer.h"
#include "runtime/host/observer.h"
#include "runtime/host/queue.h"
#include "runtime/host/residents.h"
#include "runtime/host/turns.h"
#include "runtime/host/virtual_device.h"
#include "runtime/ptx/library.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <dlfcn.h>
#include <exception>
#include <fmt/format.h>
#include <map>
#include <mutex>
#include <thread>

namespace kg {

namespace host {

using kg::detail::ErasedKernel;
using kg::detail::kernel_name;
namespace {

// An extent may be as large as 2^32 - 1; the product of the largest allowed extents is below 2^63.
std::uint64_t volume(dim3 d) { return std::uint64_t{d.x} * d.y * d.z; }

std::string words(const char* text) { return text; }
std::string words(dim3 d) { return fmt::format("({},{},{})", d.x, d.y, d.z); }
template <class Number>
std::string words(Number number) {
  return std::to_string(number);
}

[[noreturn]] void refuse(const LaunchConfig& config, const void* kernel, const std::string& what) {
  fail(fmt::format("launch of {} with grid {}, block {}, {} bytes of shared memory: {}",
                   kernel_name(kernel), words(config.grid), words(config.block),
                   config.shared_bytes, what),
       config.where);
}

void validate(const LaunchConfig& config, const void* kernel) {
  const dim3 g = config.grid;
  const dim3 b = config.block;
  const dim3 c = config.cluster;
  const DeviceProperties& device = device_properties();
  // Formats the limit only if it is exceeded.
  const auto check = [&](bool ok, auto... what) {
    if (!ok) [[unlikely]]
      refuse(config, kernel, (std::string() + ... + words(what)));
  };
  check(g.x != 0 && g.y != 0 && g.z != 0, "every grid extent must be at least 1");
  check(b.x != 0 && b.y != 0 && b.z != 0, "every block extent must be at least 1");
  check(g.x <= unsigned{kMaxGridX}, "grid.x is limited to ", kMaxGridX);
  const auto most_yz = static_cast<unsigned>(device.max_grid_yz);
  check(g.y <= most_yz && g.z <= most_yz, "grid.y and grid.z are limited to ", most_yz);
  check(b.x <= unsigned{kMaxThreadsPerBlock} && b.y <= unsigned{kMaxThreadsPerBlock} &&
            b.z <= unsigned{kMaxBlockZ} && volume(b) <= unsigned{kMaxThreadsPerBlock},
        "a block is limited to ", kMaxThreadsPerBlock, " threads and ", kMaxBlockZ, " along z");
  check(config.shared_bytes <= device.shared_bytes_per_block_optin,
        "dynamic shared memory is limited to ", device.shared_bytes_per_block_optin, " bytes");
  check(c.x != 0 && c.y != 0 && c.z != 0 && volume(c) <= unsigned{kMaxClusterBlocks},
        "a cluster has 1 to ", kMaxClusterBlocks, " blocks");
  check(g.x % c.x == 0 && g.y % c.y == 0 && g.z % c.z == 0,
        "the grid must be a multiple of the cluster ", c);
  check(!config.cooperative || volume(g) <= unsigned{kMaxCooperativeBlocks},
        "a cooperative grid is limited to ", kMaxCooperativeBlocks, " blocks");
}

// Runs blocks that may wait for each other, one OS thread each: `extent` blocks from `first` on,
// which form one cluster or, with `all_together`, a cooperative grid with its clusters.
void run_together(const LaunchContext& launch, uint3 first, dim3 extent, dim3 cluster,
                  bool all_together) {
  BlockGroup all(first, extent);
  std::deque<BlockGroup> clusters;
  const bool has_clusters = volume(cluster) > 1;
  if (has_clusters && all_together) {
    for (unsigned z = 0; z < extent.z; z += cluster.z) {
      for (unsigned y = 0; y < extent.y; y += cluster.y) {
        for (unsigned x = 0; x < extent.x; x += cluster.x) {
          clusters.emplace_back(uint3{first.x + x, first.y + y, first.z + z}, cluster);
        }
      }
    }
  }
  const auto groups_of = [&](uint3 index) -> Groups {
    if (!all_together) return {nullptr, &all, {}};
    if (!has_clusters) return {&all, nullptr, {}};
    const BlockGroup cluster_grid({0, 0, 0}, {extent.x / cluster.x, extent.y / cluster.y, 1});
    return {&all,
            &clusters[cluster_grid.rank({(index.x - first.x) / cluster.x,
                                         (index.y - first.y) / cluster.y,
                                         (index.z - first.z) / cluster.z})],
            {}};
  };

  // The blocks outlive their threads, so that mapped shared memory of another block stays valid.
  std::vector<std::unique_ptr<Block>> blocks(all.size());
  Turns turns(all.size());
  const auto work = [&](unsigned rank) {
    const uint3 index = all.index(rank);
    Groups groups = groups_of(index);
    if (observer) groups.turn = {&turns, rank};
    groups.turn.begin();
    all.enter(index, blocks[rank].get());
    if (groups.cluster != &all && groups.cluster) groups.cluster->enter(index, blocks[rank].get());
    try {
      blocks[rank]->run(launch, index, groups);
    } catch (...) {
      all.fail(std::current_exception());
    }
    all.leave(index);
    if (groups.cluster != &all && groups.cluster) groups.cluster->leave(index);
    groups.turn.end();
  };
  {
    std::vector<std::jthread> threads;
    try {
      for (unsigned rank = 0; rank < all.size(); ++rank) {
        blocks[rank] = idle_blocks().take();
        const Groups groups = groups_of(all.index(rank));
        if (groups.cluster) groups.cluster->place(all.index(rank), blocks[rank].get());
      }
      for (unsigned rank = 0; rank < all.size(); ++rank) threads.emplace_back(work, rank);
    } catch (...) { // no memory or OS thread for a block: the others must not wait for it
      all.fail(std::current_exception());
      for (BlockGroup& group : clusters) group.fail(std::current_exception());
      for (auto rank = static_cast<unsigned>(threads.size()); rank < all.size(); ++rank)
        turns.end(rank);
    }
  }
  if (all.failure()) std::rethrow_exception(all.failure());
  for (unsigned rank = all.size(); rank-- > 0;) // so that later launches get them in the same order
    idle_blocks().give_back(std::move(blocks[rank]));
}

void run_blocks_of(const LaunchConfig& config, const LaunchContext& launch) {
  const dim3 c = config.cluster;
  if (config.cooperative) {
    run_together(launch, {0, 0, 0}, config.grid, c, true);
  } else if (volume(c) > 1) {
    for (unsigned z = 0; z < config.grid.z; z += c.z) {
      for (unsigned y = 0; y < config.grid.y; y += c.y) {
        for (unsigned x = 0; x < config.grid.x; x += c.x)
          run_together(launch, {x, y, z}, c, c, false);
      }
    }
  } else {
    Residents(launch).run();
  }
}

void run_grid(const LaunchConfig& config, const ErasedKernel& kernel, void** arguments,
              std::span<const std::size_t> argument_sizes) {
  if (current_block)
    refuse(config, kernel.address,
           "a kernel cannot wait for another: of dynamic parallelism there are launches that are "
           "put off to its end");
  if (const GridWindow* const window = grid_window();
      window && !window->is_of_program() && (config.cooperative || volume(config.cluster) > 1))
    refuse(config, kernel.address,
           "a window of a grid needs independent blocks; these may wait for each other");
  const LaunchContext launch{kernel.address, kernel.invoke, arguments,
                             config.grid,    config.block,  config.shared_bytes,
                             schedule(),     kernel_name,   argument_sizes};
  const LaunchTimer::Around timed(kernel.address);
  if (!observer) return run_blocks_of(config, launch);
  observer->launch_began(launch);
  try {
    run_blocks_of(config, launch);
  } catch (...) {
    observer->launch_ended(launch, std::current_exception());
    throw;
  }
  observer->launch_ended(launch, nullptr);
}

// Chooses nvcc's compilation of the kernel if it is to run instead of g++'s
// (runtime/ptx/library.h).
void choose_compiled(LaunchConfig& config, ErasedKernel& kernel) {
  const std::optional<ptx_run::LoadedKernel> compiled = ptx_run::find(kernel.address);
  if (!compiled) return;
  kernel = ptx_run::erased(*compiled);
  ptx_run::take_cluster(*compiled, config);
  config.shared_bytes += compiled->static_shared_bytes;
}

} // namespace
} // namespace host

namespace detail {

void launch_erased(const LaunchConfig& given, const ErasedKernel& source,
                   const ErasedArguments& arguments) {
  host::validate(given, source.address);
  LaunchConfig config = given;
  ErasedKernel kernel = source;
  const std::span<const std::size_t> sizes(arguments.sizes, arguments.count);
  host::Queue* const queue = config.stream ? &host::queue_of(*config.stream) : nullptr;
  record_launch(config, kernel.address);
  if (ptx_run::enabled()) host::choose_compiled(config, kernel);
  if (queue && queue->capturing()) {
    auto [owner, pointers] = arguments.clone(arguments.tuple);
    LaunchConfig copy = config;
    copy.stream = nullptr; // the graph runs on whatever stream replays it
    queue->record(
        [copy, kernel, sizes, owner = std::move(owner), pointers = std::move(pointers)]() mutable {
          host::run_grid(copy, kernel, pointers.data(), sizes);
        });
    return;
  }
  host::run_grid(config, kernel, arguments.pointers, sizes);
}

namespace {

struct KernelNames {
  std::mutex mutex;
  std::map<const void*, const char*> given;
  std::map<const void*, std::string> found; // in this program, which stays loaded
};

KernelNames& kernel_names() {
  static KernelNames instance;
  return instance;
}

} // namespace

void name_kernel(const void* kernel, const char* name) {
  std::lock_guard lock(kernel_names().mutex);
  kernel_names().given[kernel] = name;
}

const char* given_kernel_name(const void* kernel) {
  std::lock_guard lock(kernel_names().mutex);
  const auto given = kernel_names().given.find(kernel);
  return given == kernel_names().given.end() ? nullptr : given->second;
}

std::string kernel_name(const void* kernel) {
  if (const char* given = given_kernel_name(kernel)) return given;
  KernelNames& names = kernel_names();
  std::lock_guard lock(names.mutex);
  if (const auto found = names.found.find(kernel); found != names.found.end()) return found->second;
  Dl_info info, own;
  if (!dladdr(kernel, &info) || !info.dli_sname) return "(kernel without a visible name)";
  std::string name = readable_kernel_name(info.dli_sname);
  if (dladdr(&names, &own) && own.dli_fbase == info.dli_fbase) names.found[kernel] = name;
  return name;
}

} // namespace detail
} // namespace kg
