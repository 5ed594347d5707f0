// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The model's parameters of a GPU, from data sheets and published measurements, in gpus.json with
// their sources.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace kg::model {

struct Gpu {
  std::string name; // in the format of device names: "nvidia-h200"
  std::string compute_capability;
  double sms = 0;
  double clock_hz = 0;         // boost
  double copy_bytes_per_s = 0; // copy bandwidth of large arrays
  double l2_bytes_per_s = 0;
  double port_bytes_per_s = 0;    // of one multiprocessor to L2
  double latency_s = 0;           // of a load from memory
  double l2_latency_s = 0;        // of a load from L2
  double l1_latency_s = 0;        // of a load from L1
  std::map<double, double> loads; // bytes in flight per multiprocessor -> bytes/s of the GPU
  double launch_s = 0;
  double lsu_lanes = 32;      // addresses per cycle of one multiprocessor
  double f32_flops_per_s = 0; // of one multiprocessor
  double f16_flops_per_s = 0; // of one multiprocessor, without its Tensor Cores
  double f64_flops_per_s = 0; // of one multiprocessor
  std::map<std::string, double> matrix_flops_per_s; // of one multiprocessor, by input type
  double mma_share = 1;                             // the share of that which mma.sync reaches
  std::string source;

  // Load bandwidth of the GPU in bytes per second, with this many bytes in flight per
  // multiprocessor. Interpolates linearly between measured points and extrapolates beyond the last
  // one. Without published points, derived from the latency. At most copy bandwidth.
  double loads_at(double bytes_under_way) const;
  // Bytes in flight per multiprocessor that reach copy bandwidth.
  double bytes_for_a_copy() const;
};

// Throws kg::Error with file and JSON pointer if the file is missing or malformed.
std::vector<Gpu> load_gpus(const std::filesystem::path& path);

// "sm_90", from a compute capability of "9.0".
std::string arch_of(const Gpu& gpu);

// A part of the GPU with this many multiprocessors and their share of memory and L2.
Gpu part_of(Gpu gpu, double sms);

} // namespace kg::model
