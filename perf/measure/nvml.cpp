// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "perf/measure/nvml.h"

#include <algorithm>
#include <dlfcn.h>
#include <fmt/format.h>
#include <utility>

#if KG_BACKEND_CUDA
#include "runtime/cuda/status.h"

#include <array>
#endif

namespace kg::perf {
namespace {

// From the NVML API reference, since not every CUDA toolkit contains the header.
using Return = int;
using Device = void*;
constexpr Return kSuccess = 0;
constexpr Return kInsufficientSize = 7; // NVML_ERROR_INSUFFICIENT_SIZE
constexpr int kClockSm = 1;             // NVML_CLOCK_SM
constexpr int kClockMemory = 2;         // NVML_CLOCK_MEM
constexpr int kTemperatureGpu = 0;      // NVML_TEMPERATURE_GPU

// nvmlClocksEventReasons that count as throttling.
struct Reason {
  std::uint64_t bit;
  const char* text;
};
constexpr Reason kThrottling[] = {{0x4, "software power cap"},
                                  {0x8, "hardware slow-down"},
                                  {0x20, "software thermal slow-down"},
                                  {0x40, "hardware thermal slow-down"},
                                  {0x80, "hardware power brake"}};

struct Unload {
  void operator()(void* library) const { dlclose(library); }
};

// Null if the library lacks the function.
template <class Function>
void load(void* library, const char* name, Function*& into) {
  into = reinterpret_cast<Function*>(dlsym(library, name));
}

} // namespace

struct Nvml::Library {
  // nvmlProcessInfo_t of the functions _v2 and _v3. Not in the unnamed namespace: g++ 13 and 14
  // crash if a member points to a function that takes such a type, in a file that another one
  // includes.
  struct ProcessInfo {
    unsigned pid;
    unsigned long long used_bytes;
    unsigned gpu_instance;
    unsigned compute_instance;
  };

  std::unique_ptr<void, Unload> handle;
  Return (*init)() = nullptr;
  Return (*shutdown)() = nullptr;
  Return (*device_by_pci_bus_id)(const char*, Device*) = nullptr;
  Return (*clock)(Device, int, unsigned*) = nullptr;
  Return (*power)(Device, unsigned*) = nullptr; // milliwatts
  Return (*temperature)(Device, int, unsigned*) = nullptr;
  Return (*clock_reasons)(Device, unsigned long long*) = nullptr;
  Return (*processes)(Device, unsigned*, ProcessInfo*) = nullptr;
  Device device = nullptr;

  // The value that `function` returns; empty if the function is missing or fails.
  template <class Value, class... Parameters, class... Arguments>
  static std::optional<Value> ask(Return (*function)(Parameters...), Arguments... arguments) {
    Value value{};
    if (!function || function(arguments..., &value) != kSuccess) return std::nullopt;
    return value;
  }

  std::optional<std::vector<unsigned>> compute_pids() const {
    if (!processes) return std::nullopt;
    unsigned count = 0;
    Return result = processes(device, &count, nullptr);
    std::vector<ProcessInfo> found;
    while (result == kInsufficientSize) { // again if a process has started in between
      found.resize(count);
      result = processes(device, &count, found.data());
    }
    if (result != kSuccess) return std::nullopt;
    found.resize(count);
    std::vector<unsigned> pids;
    for (const ProcessInfo& process : found) pids.push_back(process.pid);
    return pids;
  }
};

Nvml::Nvml(std::unique_ptr<Library> library) : library_(std::move(library)) {}

std::unique_ptr<Nvml> Nvml::open(const std::string& pci_bus_id, const std::string& library) {
  auto loaded = std::make_unique<Library>();
  loaded->handle.reset(dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL));
  void* const handle = loaded->handle.get();
  if (!handle) return nullptr;
  load(handle, "nvmlInit_v2", loaded->init);
  load(handle, "nvmlShutdown", loaded->shutdown);
  load(handle, "nvmlDeviceGetHandleByPciBusId_v2", loaded->device_by_pci_bus_id);
  load(handle, "nvmlDeviceGetClockInfo", loaded->clock);
  load(handle, "nvmlDeviceGetPowerUsage", loaded->power);
  load(handle, "nvmlDeviceGetTemperature", loaded->temperature);
  load(handle, "nvmlDeviceGetCurrentClocksThrottleReasons", loaded->clock_reasons);
  load(handle, "nvmlDeviceGetComputeRunningProcesses_v3", loaded->processes);
  if (!loaded->init || !loaded->shutdown || !loaded->device_by_pci_bus_id) return nullptr;
  if (loaded->init() != kSuccess) return nullptr;
  std::unique_ptr<Nvml> nvml(new Nvml(std::move(loaded))); // its destructor shuts NVML down
  Library& open = *nvml->library_;
  if (open.device_by_pci_bus_id(pci_bus_id.c_str(), &open.device) != kSuccess) return nullptr;
  return nvml;
}

Nvml::~Nvml() { library_->shutdown(); }

GpuState Nvml::state() const {
  const Library& nvml = *library_;
  GpuState state;
  state.sm_mhz = Library::ask<unsigned>(nvml.clock, nvml.device, kClockSm);
  state.memory_mhz = Library::ask<unsigned>(nvml.clock, nvml.device, kClockMemory);
  if (const auto milliwatts = Library::ask<unsigned>(nvml.power, nvml.device))
    state.power_w = *milliwatts / 1e3;
  state.temperature_c = Library::ask<unsigned>(nvml.temperature, nvml.device, kTemperatureGpu);
  state.clock_reasons = clock_reasons();
  state.compute_pids = nvml.compute_pids();
  return state;
}

std::optional<std::uint64_t> Nvml::clock_reasons() const {
  return Library::ask<unsigned long long>(library_->clock_reasons, library_->device);
}

std::unique_ptr<Nvml> open_nvml() {
#if KG_BACKEND_CUDA
  int device = 0;
  std::array<char, 32> bus_id{}; // at least 13 characters
  KG_CHECK(cudaGetDevice(&device));
  KG_CHECK(cudaDeviceGetPCIBusId(bus_id.data(), static_cast<int>(bus_id.size()), device));
  return Nvml::open(bus_id.data());
#else
  return nullptr;
#endif
}

std::map<std::string, std::string> gpu_tags(const GpuState& before, const GpuState& after,
                                            const std::vector<unsigned>& own) {
  std::map<std::string, std::string> tags;
  if (after.sm_mhz) tags["sm_mhz"] = std::to_string(*after.sm_mhz);
  if (after.memory_mhz) tags["mem_mhz"] = std::to_string(*after.memory_mhz);
  if (after.power_w) tags["power_w"] = fmt::format("{:.0f}", *after.power_w);
  if (after.temperature_c) tags["temp_c"] = std::to_string(*after.temperature_c);
  if (before.clock_reasons || after.clock_reasons) {
    const std::uint64_t reasons =
        before.clock_reasons.value_or(0) | after.clock_reasons.value_or(0);
    tags["throttle"] = fmt::format("{:#x}", reasons);
  }
  if (after.compute_pids) {
    const std::size_t listed = after.compute_pids->size();
    const auto known = static_cast<std::size_t>(
        std::count_if(after.compute_pids->begin(), after.compute_pids->end(), [&](unsigned pid) {
          return std::find(own.begin(), own.end(), pid) != own.end();
        }));
    const std::size_t ours = std::min(listed, std::max<std::size_t>(known, 1));
    if (listed > ours) tags["foreign_processes"] = std::to_string(listed - ours);
  }
  return tags;
}

std::string throttled_by(std::uint64_t clock_reasons) {
  std::string text;
  for (const Reason& reason : kThrottling)
    if ((clock_reasons & reason.bit) != 0)
      text += (text.empty() ? "" : ", ") + std::string(reason.text);
  return text;
}

} // namespace kg::perf
