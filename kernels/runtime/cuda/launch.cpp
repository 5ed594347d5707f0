// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/launch.h"

#include "runtime/cuda/native.h"
#include "runtime/cuda/status.h"
#include "runtime/device.h"
#include "runtime/resident_clusters.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <map>
#include <mutex>
#include <tuple>

namespace kg {
namespace {

// Limits common to every compute capability (CUDA Programming Guide, "Technical Specifications per
// Compute Capability").
constexpr dim3 kMaxBlock = {1024, 1024, 64};
constexpr unsigned kMaxPortableCluster = 8;

std::string text(dim3 value) { return fmt::format("({}, {}, {})", value.x, value.y, value.z); }

bool is_one(dim3 value) { return value.x == 1 && value.y == 1 && value.z == 1; }

[[noreturn]] void fail_launch(const LaunchConfig& config, const void* kernel,
                              const std::string& problem) {
  fail(fmt::format("kg::launch of {}, grid {}, block {}, {} bytes of dynamic shared memory: {}",
                   detail::kernel_name(kernel), text(config.grid), text(config.block),
                   config.shared_bytes, problem),
       config.where);
}

// Checks a configuration against the device's limits. The driver would also reject it, but with the
// same "invalid configuration argument" for each of these errors.
class Validator {
 public:
  Validator(const LaunchConfig& config, const void* kernel) : config_(config), kernel_(kernel) {}

  void check(const DeviceProperties& device) const {
    check_extents("grid", config_.grid, device.max_grid_x, device.max_grid_yz, device.max_grid_yz);
    check_extents("block", config_.block, kMaxBlock.x, kMaxBlock.y, kMaxBlock.z);
    const unsigned threads = config_.block.x * config_.block.y * config_.block.z;
    if (threads > static_cast<unsigned>(device.max_threads_per_block))
      refuse(fmt::format("the block has {} threads, the device allows {}", threads,
                         device.max_threads_per_block));
    if (config_.shared_bytes > device.shared_bytes_per_block_optin)
      refuse(fmt::format("shared_bytes is {}, the device allows {}", config_.shared_bytes,
                         device.shared_bytes_per_block_optin));
    if (!is_one(config_.cluster)) check_cluster(device);
  }

 private:
  void check_extents(const char* field, dim3 value, unsigned x, unsigned y, unsigned z) const {
    check_extent(field, 'x', value.x, x);
    check_extent(field, 'y', value.y, y);
    check_extent(field, 'z', value.z, z);
  }

  void check_extent(const char* field, char axis, unsigned value, unsigned limit) const {
    if (value == 0)
      refuse(fmt::format("{}.{} is 0, at least 1 is needed; with nothing to do, do not launch",
                         field, axis));
    if (value > limit)
      refuse(fmt::format("{}.{} is {}, the device allows {}", field, axis, value, limit));
  }

  void check_cluster(const DeviceProperties& device) const {
    const dim3& grid = config_.grid;
    const dim3& cluster = config_.cluster;
    if (device.compute_major < 9)
      refuse(
          fmt::format("cluster is {}, clusters need compute capability 9.0, the device has {}.{}",
                      text(cluster), device.compute_major, device.compute_minor));
    check_extents("cluster", cluster, kMaxPortableCluster, kMaxPortableCluster,
                  kMaxPortableCluster);
    if (cluster.x * cluster.y * cluster.z > kMaxPortableCluster)
      refuse(fmt::format("cluster {} has more than {} blocks", text(cluster), kMaxPortableCluster));
    if (grid.x % cluster.x != 0 || grid.y % cluster.y != 0 || grid.z % cluster.z != 0)
      refuse(fmt::format("the grid is not a multiple of cluster {}", text(cluster)));
  }

  [[noreturn]] void refuse(const std::string& problem) const {
    fail_launch(config_, kernel_, problem);
  }

  const LaunchConfig& config_;
  const void* kernel_;
};

void check_call(cudaError_t returned, const char* call, const LaunchConfig& config,
                const void* kernel) {
  if (returned == cudaSuccess) return;
  fail_launch(config, kernel, std::string(call) + " failed: " + describe(returned).text);
}

void allow_shared(const LaunchConfig& config, const void* kernel, const DeviceProperties& device) {
  if (config.shared_bytes > device.shared_bytes_per_block)
    check_call(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(config.shared_bytes)),
               "cudaFuncSetAttribute(MaxDynamicSharedMemorySize)", config, kernel);
}

// The runtime's launch configuration. Not copyable, because it points into itself.
class NativeConfig {
 public:
  NativeConfig(const LaunchConfig& config, dim3 grid) {
    native_.gridDim = grid;
    native_.blockDim = config.block;
    native_.dynamicSmemBytes = config.shared_bytes;
    native_.stream = config.stream ? cuda::native(*config.stream) : nullptr;
    native_.attrs = attributes_.data();
    if (!is_one(config.cluster)) {
      cudaLaunchAttribute& attribute = attributes_[native_.numAttrs++];
      attribute.id = cudaLaunchAttributeClusterDimension;
      attribute.val.clusterDim.x = config.cluster.x;
      attribute.val.clusterDim.y = config.cluster.y;
      attribute.val.clusterDim.z = config.cluster.z;
    }
    if (config.cooperative) {
      cudaLaunchAttribute& attribute = attributes_[native_.numAttrs++];
      attribute.id = cudaLaunchAttributeCooperative;
      attribute.val.cooperative = 1;
    }
  }
  NativeConfig(const NativeConfig&) = delete;
  NativeConfig& operator=(const NativeConfig&) = delete;

  const cudaLaunchConfig_t* get() const { return &native_; }

 private:
  cudaLaunchConfig_t native_{};
  std::array<cudaLaunchAttribute, 2> attributes_{};
};

} // namespace

namespace detail {

int resident_clusters(const void* kernel, const LaunchConfig& config) {
  static std::mutex mutex;
  static std::map<std::tuple<int, const void*, unsigned, unsigned, std::size_t>, int> known;
  int device = 0;
  KG_CHECK(cudaGetDevice(&device));
  const dim3 &block = config.block, &cluster = config.cluster;
  std::lock_guard lock(mutex);
  const std::tuple asked{device, kernel, block.x * block.y * block.z,
                         cluster.x * cluster.y * cluster.z, config.shared_bytes};
  if (const auto found = known.find(asked); found != known.end()) return found->second;
  allow_shared(config, kernel, device_properties());
  const NativeConfig native(config, cluster);
  int clusters = 0;
  check_call(cudaOccupancyMaxActiveClusters(&clusters, kernel, native.get()),
             "cudaOccupancyMaxActiveClusters", config, kernel);
  if (clusters < 1)
    fail_launch(config, kernel,
                "no cluster of " + std::to_string(std::get<3>(asked)) +
                    " blocks finds room on this device");
  return known[asked] = clusters;
}

void launch_erased(const LaunchConfig& config, const ErasedKernel& kernel,
                   const ErasedArguments& arguments) {
  const DeviceProperties& device = device_properties();
  Validator(config, kernel.address).check(device);

  allow_shared(config, kernel.address, device);
  const NativeConfig native(config, config.grid);
  check_call(cudaLaunchKernelExC(native.get(), kernel.address, arguments.pointers),
             "cudaLaunchKernelExC", config, kernel.address);
  record_launch(config, kernel.address);
}

// Toolkits before 12.3 lack this query; the dynamic symbol table has the names of exported kernels.
std::string kernel_name(const void* kernel) {
#if CUDART_VERSION >= 12030
  const char* mangled = nullptr;
  if (describe(cudaFuncGetName(&mangled, kernel)).ok && mangled)
    return readable_kernel_name(mangled);
#endif
  Dl_info symbol{};
  if (dladdr(kernel, &symbol) != 0 && symbol.dli_sname && symbol.dli_saddr == kernel)
    return readable_kernel_name(symbol.dli_sname);
  return fmt::format("kernel at {}", kernel);
}

} // namespace detail
} // namespace kg
