// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What NVIDIA's management library (NVML) says of a GPU: clocks, power, temperature, what holds the
// clocks down, and who else computes. Loaded at run time, since not every machine that runs kernels
// has it, and not every one that has it answers every question (WSL2, MIG, containers).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kg::perf {

// What is not known is empty, never 0.
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
  // Null where the library is missing or does not know the GPU. `pci_bus_id` as CUDA writes it:
  // "0000:3b:00.0".
  static std::unique_ptr<Nvml> open(const std::string& pci_bus_id,
                                    const std::string& library = "libnvidia-ml.so.1");
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  GpuState state() const;

  // GpuState's alone, which costs little: for use between samples.
  std::optional<std::uint64_t> clock_reasons() const;

 private:
  struct Library;
  explicit Nvml(std::unique_ptr<Library> library);
  std::unique_ptr<Library> library_;
};

// Of the current device. Null on the host backend, too.
std::unique_ptr<Nvml> open_nvml();

// What a row's tags say of its GPU, from its state before and after the row: sm_mhz, mem_mhz,
// power_w and temp_c as after it, the reasons of both as a mask in `throttle`; `foreign_processes`,
// how many others compute on it, where there are any. `own` are this process and the one that
// started it. In a container NVML numbers processes as the machine does, so that none of them is to
// be found; then one of those listed is this process.
std::map<std::string, std::string> gpu_tags(const GpuState& before, const GpuState& after,
                                            const std::vector<unsigned>& own);

// What holds the clocks down against everyone's wish, by heat or power, in hardware or in the
// driver's software: "software power cap, hardware slow-down"; empty where nothing does. Idle
// clocks and a limit that a user set are no such. A power cap counts, too: under it the clock
// depends on the data, on what ran before and on the room's temperature.
std::string throttled_by(std::uint64_t clock_reasons);

} // namespace kg::perf
