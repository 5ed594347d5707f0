// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda/binary/launch.h"

#include "cuda/binary/modules.h"
#include "cuda/source/ptx_kernel.h"
#include "cuda/source/state.h"
#include "runtime/device.h"
#include "runtime/host/virtual_device.h"

namespace kg::emulate {

namespace {

const ptx_run::LoadedKernel& find(const void* kernel) {
  try {
    return kernel_at(kernel);
  } catch (const Error& error) {
    throw foreign::Refusal(cudaErrorInvalidDeviceFunction, error.what());
  }
}

} // namespace

cudaError_t launch(const void* kernel, LaunchConfig config, void** arguments, cudaStream_t stream) {
  const ptx_run::LoadedKernel* loaded = nullptr;
  const cudaError_t found = foreign::call("a launch", [&] { loaded = &find(kernel); });
  if (found != cudaSuccess) return found;
  host::note_inexact(loaded->inexact);
  return foreign::launch_loaded(*loaded, config, arguments, stream);
}

cudaError_t active_clusters(int* clusters, const void* kernel, LaunchConfig config) {
  return foreign::call("cudaOccupancyMaxActiveClusters", [&] {
    foreign::demand(clusters, cudaErrorInvalidValue, "numClusters is null");
    const ptx_run::LoadedKernel& loaded = find(kernel);
    try {
      ptx_run::take_cluster(loaded, config);
    } catch (const Error& other_cluster) {
      throw foreign::Refusal(cudaErrorInvalidValue, other_cluster.what());
    }
    const dim3 cluster = config.cluster, block = config.block;
    const auto size = static_cast<int>(cluster.x * cluster.y * cluster.z);
    foreign::demand(size >= 1 && size <= host::kMaxClusterBlocks, cudaErrorInvalidValue,
                    "a cluster of " + std::to_string(size) + " blocks; it has 1 to " +
                        std::to_string(host::kMaxClusterBlocks));
    int blocks = 0; // of a multiprocessor
    if (const cudaError_t error =
            foreign::active_blocks(&blocks, static_cast<int>(block.x * block.y * block.z),
                                   config.shared_bytes + loaded.static_shared_bytes))
      throw foreign::Refusal(error, "the block is refused");
    *clusters = blocks * device_properties().sm_count / size;
  });
}

} // namespace kg::emulate
