// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda/source/launch.h"

#include "cuda/source/record.h"
#include "cuda/source/state.h"
#include "runtime/device.h"
#include "runtime/host/block.h"
#include "runtime/host/queue.h"
#include "runtime/host/virtual_device.h"
#include "runtime/ptx/library.h"

namespace kg::foreign {
namespace {

using namespace kg::host;

std::string words(dim3 d) {
  return "(" + std::to_string(d.x) + "," + std::to_string(d.y) + "," + std::to_string(d.z) + ")";
}

// Refuses what a GPU refuses, with its codes. These errors are not kernel faults and do not stay.
void check(const LaunchConfig& config, const void* kernel) {
  const dim3 g = config.grid;
  const dim3 b = config.block;
  const auto whole = [](dim3 d) { return std::uint64_t{d.x} * d.y * d.z; };
  demand(g.x != 0 && g.y != 0 && g.z != 0 && g.x <= unsigned{kMaxGridX} &&
             g.y <= unsigned{kMaxGridYz} && g.z <= unsigned{kMaxGridYz},
         cudaErrorInvalidConfiguration,
         "a grid of " + words(g) + " blocks; every extent must be at least 1, x at most " +
             std::to_string(kMaxGridX) + ", y and z at most " + std::to_string(kMaxGridYz));
  constexpr unsigned kThreads = kMaxThreadsPerBlock;
  demand(b.x != 0 && b.y != 0 && b.z != 0 && b.x <= kThreads && b.y <= kThreads &&
             b.z <= unsigned{kMaxBlockZ} && whole(b) <= kThreads,
         cudaErrorInvalidConfiguration,
         "a block of " + words(b) + " threads; every extent must be at least 1, z at most " +
             std::to_string(kMaxBlockZ) + ", and all together at most " + std::to_string(kThreads));
  const std::size_t fixed = ptx_run::static_shared(kernel).bytes;
  const std::size_t allowed =
      allowed_dynamic_shared(); // limits dynamic memory alone, if the program sets it
  const bool fits =
      asks_for_dynamic_shared()
          ? config.shared_bytes - fixed <= allowed &&
                config.shared_bytes <= device_properties().shared_bytes_per_block_optin
          : config.shared_bytes <= allowed;
  demand(fits, cudaErrorInvalidValue,
         std::to_string(config.shared_bytes - fixed) + " bytes of dynamic shared memory" +
             (fixed > 0 ? " and " + std::to_string(fixed) + " of static" : "") +
             "; without "
             "cudaFuncSetAttribute(kernel, "
             "cudaFuncAttributeMaxDynamicSharedMemorySize, "
             "bytes) a launch may have " +
             std::to_string(allowed) + ", with it " +
             std::to_string(device_properties().shared_bytes_per_block_optin));
  demand(!config.cooperative || whole(g) <= unsigned{kMaxCooperativeBlocks},
         cudaErrorCooperativeLaunchTooLarge,
         "a cooperative grid of " + words(g) + " blocks; at most " +
             std::to_string(kMaxCooperativeBlocks) + " run at once");
}

// During its lifetime, code that was compiled with the kernels does not count as device code.
class NotDeviceCode {
 public:
  ~NotDeviceCode() { current_block = block_; }

 private:
  Block* const block_ = std::exchange(current_block, nullptr);
};

// Launches by kernels, recorded as in a graph. A child may start at any time before its parent
// ends, and the parent's end is visible only after the child's (CUDA C++ Programming Guide, "CUDA
// Dynamic Parallelism"). Here, all children start in launch order when the grid has ended.
class Children {
 public:
  void add(LaunchConfig config, const detail::ErasedKernel& kernel,
           const detail::ErasedArguments& arguments) {
    Stream recorder;
    Queue& queue = queue_of(recorder);
    queue.begin_capture();
    config.stream = &recorder;
    {
      const NotDeviceCode copying_arguments;
      detail::launch_erased(config, kernel, arguments);
    }
    const auto recorded = queue.end_capture();
    std::lock_guard lock(mutex_); // blocks run concurrently
    for (Queue::Node& node : *recorded) waiting_.push_back(std::move(node.task));
  }
  // Also runs the launches of the children.
  void run() {
    for (std::vector<Queue::Task> tasks = take(); !tasks.empty(); tasks = take()) {
      for (const Queue::Task& task : tasks) task();
    }
  }
  std::vector<Queue::Task> take() {
    std::lock_guard lock(mutex_);
    return std::exchange(waiting_, {});
  }

 private:
  std::mutex mutex_;
  std::vector<Queue::Task> waiting_;
};

Children& children() {
  static Children instance;
  return instance;
}

} // namespace

cudaError_t run_grid(const std::function<void()>& grid) {
  try {
    grid();
    children().run();
    write_records();
    return cudaSuccess;
  } catch (const Refusal&) {
    throw;
  } catch (const std::exception& error) {
    children().take();
    write_records();
    return note_fault(error.what());
  }
}

cudaError_t launch(LaunchConfig config, cudaStream_t stream, const detail::ErasedKernel& kernel,
                   const detail::ErasedArguments& arguments) {
  if (const cudaError_t broken = fault()) return broken;
  const std::string name = detail::kernel_name(kernel.address);
  try {
    config.stream = &stream_of(stream);
    check(config, kernel.address);
  } catch (const Refusal& refusal) {
    const std::string where = config.where.line == 0 ? "" // by a program that nvcc compiled
                                                     : std::string(config.where.file) + ":" +
                                                           std::to_string(config.where.line) + ": ";
    return note_refusal(refusal.code, (where + "launch of " + name).c_str(), refusal.what());
  }
  note_launch();
  note_launch_of(kernel.address);
  if (current_block) {
    children().add(config, kernel, arguments);
    return cudaSuccess;
  }
  const StreamWork work(stream, nullptr, config.where);
  return run_grid([&] { detail::launch_erased(config, kernel, arguments); });
}

} // namespace kg::foreign
