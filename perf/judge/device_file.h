// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// baselines/<device>/device.json: the machine on which the baselines in its folder were measured.
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
  // Operations without a baseline on this device. For any other, a missing file is a failure.
  std::set<std::string> not_blessed = {};

  friend bool operator==(const DeviceFile&, const DeviceFile&) = default;
};

// Empty if the file does not exist. Throws kg::Error with file and JSON pointer if malformed.
std::optional<DeviceFile> load_device(const std::filesystem::path& path);

// The ceilings, plus "l2_bytes" from the fingerprint (roof.h).
std::map<std::string, double> ceilings_of(const DeviceFile& device);

// The first difference between a machine's fingerprint and the file's ("cpu: 'AMD EPYC' blessed,
// 'Xeon' here") and the number of further ones. Empty if they match.
std::string difference(const DeviceFile& blessed, const std::map<std::string, std::string>& here);

// Writes the file atomically (atomic_file.h).
void save_device(const std::filesystem::path& path, const DeviceFile& device);

} // namespace kg::judge
