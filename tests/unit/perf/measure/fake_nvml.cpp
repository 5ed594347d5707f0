// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A library with the functions of NVML that are used, and invented answers. FAKE_NVML_PARTIAL: some
// are missing and some fail, as on WSL2.

extern "C" {

constexpr int kSuccess = 0, kInsufficientSize = 7;
[[maybe_unused]] constexpr int kNotSupported = 3;
constexpr int kNotFound = 6;

struct ProcessInfo {
  unsigned pid;
  unsigned long long used_bytes;
  unsigned gpu_instance;
  unsigned compute_instance;
};

int nvmlInit_v2() { return kSuccess; }
int nvmlShutdown() { return kSuccess; }

int nvmlDeviceGetHandleByPciBusId_v2(const char* bus_id, void** device) {
  *device = nullptr;
  return bus_id[0] == '0' ? kSuccess : kNotFound;
}

int nvmlDeviceGetClockInfo(void*, int type, unsigned* mhz) {
  *mhz = type == 1 ? 1980 : 2619;
  return type == 1 || type == 2 ? kSuccess : kNotFound;
}

#if FAKE_NVML_PARTIAL

int nvmlDeviceGetPowerUsage(void*, unsigned* milliwatts) {
  *milliwatts = 0;
  return kNotSupported;
}

#else

int nvmlDeviceGetPowerUsage(void*, unsigned* milliwatts) {
  *milliwatts = 345500;
  return kSuccess;
}

int nvmlDeviceGetTemperature(void*, int, unsigned* celsius) {
  *celsius = 41;
  return kSuccess;
}

int nvmlDeviceGetCurrentClocksThrottleReasons(void*, unsigned long long* reasons) {
  *reasons = 0x48;
  return kSuccess;
}

int nvmlDeviceGetComputeRunningProcesses_v3(void*, unsigned* count, ProcessInfo* processes) {
  const unsigned room = *count;
  *count = 2;
  if (room < 2) return kInsufficientSize;
  processes[0] = {11, 1, 0, 0};
  processes[1] = {22, 1, 0, 0};
  return kSuccess;
}

#endif

} // extern "C"
