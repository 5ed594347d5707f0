// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What the model knows of a GPU: figures of datasheets, in gpus.json with their sources.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace kg::model {

struct Gpu {
  std::string name; // as a device is named: "nvidia-h200"
  std::string compute_capability;
  double sms = 0;
  double clock_hz = 0;           // boost
  double memory_bytes_per_s = 0; // of the datasheet
  double l2_bytes_per_s = 0;
  double latency_s = 0; // of a load from global memory
  double launch_s = 0;
  double f32_flops_per_s = 0;                       // of one multiprocessor
  std::map<std::string, double> matrix_flops_per_s; // of one multiprocessor, by input type
  std::string source;
};

// Throws kg::Error with the file and the JSON pointer when it is missing or malformed.
std::vector<Gpu> load_gpus(const std::filesystem::path& path);

} // namespace kg::model
