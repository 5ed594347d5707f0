// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// baselines/<device>/device.json: what the baselines beside it were measured on.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace kg::judge {

inline constexpr int kDeviceSchema = 1;

struct DeviceFile {
  std::map<std::string, std::string>
      fingerprint;                           // "gpu_name": "NVIDIA H200", "driver": "580.65", ...
  std::map<std::string, double> canaries_ns; // by kind
  std::map<std::string, double> ceilings;    // "dram_bytes_per_s", "f32_flops_per_s", ...
  std::map<std::string, double> calibration; // error rates of the gate measured on this device
  // The operations that really have no baseline here; of every other a missing file is a failure.
  std::set<std::string> not_blessed = {};

  friend bool operator==(const DeviceFile&, const DeviceFile&) = default;
};

// Nothing when there is no such file; kg::Error with file and JSON pointer when it is malformed.
std::optional<DeviceFile> load_device(const std::filesystem::path& path);

// The ceilings, and under "l2_bytes" the size of the cache that the fingerprint names (roof.h).
std::map<std::string, double> ceilings_of(const DeviceFile& device);

// How a machine's fingerprint differs from the file's: "cpu: 'AMD EPYC' blessed, 'Xeon' here", the
// first difference by name and how many more there are. Empty where there is none.
std::string difference(const DeviceFile& blessed, const std::map<std::string, std::string>& here);

// Writes the file whole or not at all (atomic_file.h).
void save_device(const std::filesystem::path& path, const DeviceFile& device);

} // namespace kg::judge
