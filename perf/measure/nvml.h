// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A GPU's clocks, power, temperature, throttling and other processes, from NVIDIA's management
// library (NVML). Loaded at run time, since it may be missing or incomplete (WSL2, MIG,
// containers).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kg::perf {

// Unknown values are empty, never 0.
struct GpuState {
  std::optional<unsigned> sm_mhz = {};
  std::optional<unsigned> memory_mhz = {};
  std::optional<double> power_w = {};
  std::optional<unsigned> temperature_c = {};
  std::optional<std::uint64_t> clock_reasons = {};        // a mask of nvmlClocksEventReasons
  std::optional<std::vector<unsigned>> compute_pids = {}; // processes with a compute context
};

class Nvml {
 public:
  // Null if the library is missing or does not know the GPU. `pci_bus_id` in CUDA's format:
  // "0000:3b:00.0".
  static std::unique_ptr<Nvml> open(const std::string& pci_bus_id,
                                    const std::string& library = "libnvidia-ml.so.1");
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  GpuState state() const;

  // Only GpuState::clock_reasons. Cheap enough to call between samples.
  std::optional<std::uint64_t> clock_reasons() const;

 private:
  struct Library;
  explicit Nvml(std::unique_ptr<Library> library);
  std::unique_ptr<Library> library_;
};

// NVML of the current device. Null if unavailable, and on the host backend.
std::unique_ptr<Nvml> open_nvml();

// A row's tags, from the GPU's states before and after the row:
//   sm_mhz, mem_mhz, power_w, temp_c  after the row
//   throttle                          clock reasons of both states, as a mask
//   foreign_processes                 the number of other processes on the GPU, if any
// `own`: the ids of this process and its parent. In a container NVML reports the host's ids, so
// that neither is listed. Then one of the listed processes is taken to be this one.
std::map<std::string, std::string> gpu_tags(const GpuState& before, const GpuState& after,
                                            const std::vector<unsigned>& own);

// The thermal and power reasons that lower the clocks, in hardware or in the driver: "software
// power cap, hardware slow-down". Empty if there is none. Idle clocks and limits set by a user do
// not count. A power cap counts, since the clock then depends on data, history and room
// temperature.
std::string throttled_by(std::uint64_t clock_reasons);

} // namespace kg::perf
