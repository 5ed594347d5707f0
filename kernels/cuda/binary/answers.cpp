// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda/binary/launch.h"
#include "cuda/binary/layouts.h"
#include "cuda/binary/modules.h"
#include "cuda/source/state.h"
#include "runtime/device.h"

#include <algorithm>

namespace kg::emulate {

int device_of(int device, Device& to) {
  cudaDeviceProp properties;
  if (const cudaError_t error = cudaGetDeviceProperties(&properties, device)) return error;
  to = {properties.name, properties.totalGlobalMem};
  return cudaSuccess;
}

int attribute_of(int attribute, int device) {
  int value = 0;
  return cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(attribute), device) ==
                 cudaSuccess
             ? value
             : 0;
}

int function_of(const void* kernel, Function& to) {
  cudaFuncAttributes attributes;
  if (const cudaError_t error = foreign::function_attributes(&attributes)) return error;
  return foreign::call("cudaFuncGetAttributes", [&] {
    try {
      to = {kernel_at(kernel).static_shared_bytes, attributes.maxThreadsPerBlock,
            ptx_version_at(kernel), std::max(ptx_version_at(kernel), compute_capability()),
            attributes.maxDynamicSharedSizeBytes};
    } catch (const Error& error) {
      throw foreign::Refusal(cudaErrorInvalidDeviceFunction, error.what());
    }
  });
}

int pointer_of(const void* pointer, Pointer& to) {
  cudaPointerAttributes attributes;
  if (const cudaError_t error = cudaPointerGetAttributes(&attributes, pointer)) return error;
  to = {static_cast<int>(attributes.type), attributes.device, attributes.devicePointer,
        attributes.hostPointer};
  return cudaSuccess;
}

namespace {

LaunchConfig configuration(const Launch& given) {
  LaunchConfig config{.grid = {given.grid[0], given.grid[1], given.grid[2]},
                      .block = {given.block[0], given.block[1], given.block[2]},
                      .shared_bytes = given.shared_bytes};
  config.cooperative = given.cooperative;
  config.cluster = {given.cluster[0], given.cluster[1], given.cluster[2]};
  config.where = {"the program", 0};
  return config;
}

} // namespace

int run(const Launch& given, const void* kernel, void** arguments) {
  return launch(kernel, configuration(given), arguments, static_cast<cudaStream_t>(given.stream));
}

int clusters_of(const Launch& given, const void* kernel, int* clusters) {
  return active_clusters(clusters, kernel, configuration(given));
}

} // namespace kg::emulate
