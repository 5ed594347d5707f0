// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The device, which is the same as in the runtime API (cuda/source/device.cpp).
#include "cuda/binary/driver/call.h"
#include "cuda/binary/layouts.h"

#include <cstdio>
#include <cstring>

using namespace kg::emulate;
namespace foreign = kg::foreign;

KG_DRIVER cuDriverGetVersion(int* version) {
  if (!version) return CUDA_ERROR_INVALID_VALUE;
  *version = CUDA_VERSION;
  return CUDA_SUCCESS;
}
KG_DRIVER cuDeviceGet(CUdevice* device, int ordinal) {
  return after_init("cuDeviceGet", [&] {
    demand_pointer(device, "device");
    foreign::demand_device(ordinal);
    *device = ordinal;
  });
}
KG_DRIVER cuDeviceGetCount(int* count) {
  return after_init("cuDeviceGetCount", [&] {
    demand_pointer(count, "count");
    *count = 1;
  });
}
KG_DRIVER cuDeviceGetName(char* name, int bytes, CUdevice device) {
  return after_init("cuDeviceGetName", [&] {
    demand_pointer(name, "name");
    demand(bytes > 0, CUDA_ERROR_INVALID_VALUE, "len is " + std::to_string(bytes));
    Device of;
    foreign::demand_device(device);
    device_of(device, of);
    std::snprintf(name, static_cast<std::size_t>(bytes), "%s", of.name.c_str());
  });
}
KG_DRIVER cuDeviceGetUuid(CUuuid* uuid, CUdevice device) {
  return after_init("cuDeviceGetUuid", [&] {
    demand_pointer(uuid, "uuid");
    foreign::demand_device(device);
    std::memcpy(uuid->bytes, "kernelgrade     ", sizeof uuid->bytes);
  });
}
#undef cuDeviceGetUuid // before CUDA 11.4
KG_DRIVER cuDeviceGetUuid(CUuuid* uuid, CUdevice device) {
  return cuDeviceGetUuid_v2(uuid, device);
}
KG_DRIVER cuDeviceTotalMem(std::size_t* bytes, CUdevice device) {
  return after_init("cuDeviceTotalMem", [&] {
    demand_pointer(bytes, "bytes");
    foreign::demand_device(device);
    Device of;
    device_of(device, of);
    *bytes = of.global_bytes;
  });
}
KG_DRIVER cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  if (const CUresult missing = initialised()) return missing;
  if (!value) return CUDA_ERROR_INVALID_VALUE;
  // Both APIs use the same numbers.
  return code_of(cudaDeviceGetAttribute(value, static_cast<cudaDeviceAttr>(attribute), device));
}
KG_DRIVER cuDeviceComputeCapability(int* major, int* minor, CUdevice device) {
  if (const CUresult error =
          cuDeviceGetAttribute(major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device))
    return error;
  return cuDeviceGetAttribute(minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
}
KG_DRIVER cuDeviceGetPCIBusId(char* text, int bytes, CUdevice device) {
  if (const CUresult missing = initialised()) return missing;
  if (!text || bytes <= 0) return CUDA_ERROR_INVALID_VALUE;
  return code_of(cudaDeviceGetPCIBusId(text, bytes, device));
}
KG_DRIVER cuDeviceGetByPCIBusId(CUdevice* device, const char* text) {
  return after_init("cuDeviceGetByPCIBusId", [&] {
    demand_pointer(device, "dev");
    demand_pointer(text, "pciBusId");
    char known[32];
    demand(cudaDeviceGetPCIBusId(known, sizeof known, 0) == cudaSuccess &&
               std::strcmp(text, known) == 0,
           CUDA_ERROR_INVALID_DEVICE, std::string("no device ") + text);
    *device = 0;
  });
}
KG_DRIVER cuDeviceCanAccessPeer(int* can, CUdevice device, CUdevice) {
  return after_init("cuDeviceCanAccessPeer", [&] {
    demand_pointer(can, "canAccessPeer");
    foreign::demand_device(device);
    *can = 0;
  });
}
KG_DRIVER cuDeviceGetP2PAttribute(int*, CUdevice_P2PAttribute, CUdevice, CUdevice) {
  return CUDA_ERROR_INVALID_DEVICE; // it needs two devices
}
KG_DRIVER cuDeviceGetExecAffinitySupport(int* supported, CUexecAffinityType, CUdevice) {
  if (!supported) return CUDA_ERROR_INVALID_VALUE;
  *supported = 0;
  return initialised();
}
