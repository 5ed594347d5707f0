// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Launches and occupancy.
#include "cuda/binary/launch.h"
#include "cuda/binary/driver/modules.h"
#include "runtime/device.h"
#include "runtime/host/virtual_device.h"

#include <algorithm>

namespace kg::emulate {
namespace {

LaunchConfig configuration(const CUlaunchConfig& given) {
  LaunchConfig config{.grid = {given.gridDimX, given.gridDimY, given.gridDimZ},
                      .block = {given.blockDimX, given.blockDimY, given.blockDimZ},
                      .shared_bytes = given.sharedMemBytes};
  config.where = {"the program", 0};
  for (unsigned i = 0; given.attrs && i < given.numAttrs; ++i) {
    const CUlaunchAttribute& attribute = given.attrs[i];
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
      config.cooperative = attribute.value.cooperative != 0;
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
      config.cluster = {attribute.value.clusterDim.x, attribute.value.clusterDim.y,
                        attribute.value.clusterDim.z};
  }
  return config;
}

// The arguments in one buffer, as passed in `extra`.
struct Packed {
  char* data = nullptr;
  std::size_t bytes = 0;

  explicit Packed(void** extra) {
    for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
      if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER)
        data = static_cast<char*>(extra[1]);
      else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE)
        bytes = *static_cast<std::size_t*>(extra[1]);
      else
        refuse(CUDA_ERROR_INVALID_VALUE, "extra holds an unknown name");
    }
  }
};

CUresult launch(const CUlaunchConfig& given, CUfunction handle, void** arguments, void** extra) {
  std::vector<void*> unpacked;
  const CUresult error = driver("a launch", [&] {
    const CUfunc_st& function = function_of(handle);
    demand(given.sharedMemBytes <= function.dynamic_shared, CUDA_ERROR_INVALID_VALUE,
           std::to_string(given.sharedMemBytes) + " bytes of dynamic shared memory; " +
               function.name + " may have " + std::to_string(function.dynamic_shared) +
               " (cuFuncSetAttribute, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)");
    if (!extra && arguments) return;
    std::span<const std::size_t> offsets, sizes;
    try {
      const ptx_run::LoadedKernel& kernel = kernel_at(&function);
      offsets = kernel.offsets, sizes = kernel.parameters;
    } catch (const Error& why) {
      refuse(CUDA_ERROR_NO_BINARY_FOR_GPU, why.what());
    }
    demand(!(extra && arguments), CUDA_ERROR_INVALID_VALUE,
           "arguments come as kernelParams or as extra");
    demand(extra || sizes.empty(), CUDA_ERROR_INVALID_VALUE,
           "the kernel takes " + std::to_string(sizes.size()) + " arguments, none is given");
    if (!extra) return;
    const Packed packed(extra);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      demand(packed.data && offsets[i] + sizes[i] <= packed.bytes, CUDA_ERROR_INVALID_VALUE,
             "argument " + std::to_string(i) + " lies behind the end of the buffer");
      unpacked.push_back(packed.data + offsets[i]);
    }
  });
  if (error) return error;
  return code_of(emulate::launch(handle, configuration(given), extra ? unpacked.data() : arguments,
                                 given.hStream));
}

// Null: the shared memory does not depend on the block size.
using SharedBytes = CUoccupancyB2DSize;

CUresult best_block(int* grid, int* block, CUfunction handle, SharedBytes shared_of,
                    std::size_t shared, int limit) {
  return driver("cuOccupancyMaxPotentialBlockSize", [&] {
    demand_pointer(grid, "minGridSize");
    demand_pointer(block, "blockSize");
    function_of(handle);
    *grid = *block = 0;
    int most = 0;
    const int largest =
        limit > 0 ? std::min(limit, host::kMaxThreadsPerBlock) : host::kMaxThreadsPerBlock;
    for (int threads = largest; threads > 0; threads = (threads - 1) / 32 * 32) {
      int blocks = 0;
      foreign::active_blocks(&blocks, threads, shared_of ? shared_of(threads) : shared);
      if (blocks * threads <= most) continue;
      most = blocks * threads;
      *block = threads;
      *grid = blocks * host::kSmCount;
    }
  });
}

} // namespace
} // namespace kg::emulate

using namespace kg::emulate;

KG_DRIVER cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** arguments,
                           void** extra) {
  if (!config) return CUDA_ERROR_INVALID_VALUE;
  return launch(*config, function, arguments, extra);
}
KG_DRIVER cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                         unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                         CUstream stream, void** arguments, void** extra) {
  return launch({grid_x, grid_y, grid_z, block_x, block_y, block_z, shared, stream, nullptr, 0},
                function, arguments, extra);
}
KG_DRIVER cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                                    unsigned grid_z, unsigned block_x, unsigned block_y,
                                    unsigned block_z, unsigned shared, CUstream stream,
                                    void** arguments) {
  CUlaunchAttribute together{};
  together.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
  together.value.cooperative = 1;
  return launch({grid_x, grid_y, grid_z, block_x, block_y, block_z, shared, stream, &together, 1},
                function, arguments, nullptr);
}
KG_DRIVER cuLaunchHostFunc(CUstream stream, CUhostFn function, void* data) {
  if (!function) return CUDA_ERROR_INVALID_VALUE;
  return by_runtime(cudaLaunchHostFunc, stream, function, data);
}

// --- Occupancy

KG_DRIVER cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, CUfunction function,
                                                               int threads, std::size_t shared,
                                                               unsigned) {
  return driver("cuOccupancyMaxActiveBlocksPerMultiprocessor", [&] {
    demand_pointer(blocks, "numBlocks");
    function_of(function);
    const cudaError_t error = kg::foreign::active_blocks(blocks, threads, shared);
    kg::foreign::demand(error == cudaSuccess, error, "the block is refused");
  });
}
KG_DRIVER cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction function, int threads,
                                                      std::size_t shared) {
  return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, shared, 0);
}
KG_DRIVER cuOccupancyMaxPotentialBlockSize(int* grid, int* block, CUfunction function,
                                           CUoccupancyB2DSize shared_of, std::size_t shared,
                                           int limit) {
  return best_block(grid, block, function, shared_of, shared, limit);
}
KG_DRIVER cuOccupancyMaxPotentialBlockSizeWithFlags(int* grid, int* block, CUfunction function,
                                                    CUoccupancyB2DSize shared_of,
                                                    std::size_t shared, int limit, unsigned) {
  return best_block(grid, block, function, shared_of, shared, limit);
}
KG_DRIVER cuOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes, CUfunction function,
                                                  int blocks, int) {
  return driver("cuOccupancyAvailableDynamicSMemPerBlock", [&] {
    demand_pointer(bytes, "dynamicSmemSize");
    demand(blocks > 0, CUDA_ERROR_INVALID_VALUE, std::to_string(blocks) + " blocks");
    *bytes =
        std::min(function_of(function).dynamic_shared,
                 kg::device_properties().shared_bytes_per_sm / static_cast<std::size_t>(blocks));
  });
}
KG_DRIVER cuOccupancyMaxActiveClusters(int* clusters, CUfunction function,
                                       const CUlaunchConfig* config) {
  const CUresult error = driver("cuOccupancyMaxActiveClusters", [&] {
    demand_pointer(config, "config");
    function_of(function);
  });
  if (error) return error;
  return code_of(active_clusters(clusters, function, configuration(*config)));
}
