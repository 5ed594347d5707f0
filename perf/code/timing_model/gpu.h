// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What the model knows of a GPU: figures of data sheets and of others' measurements, in gpus.json
// with their sources.
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
  double clock_hz = 0;         // boost
  double copy_bytes_per_s = 0; // what copies of large arrays reach
  double l2_bytes_per_s = 0;
  double port_bytes_per_s = 0;    // of one multiprocessor to L2
  double latency_s = 0;           // of a load from memory
  double l2_latency_s = 0;        // of one from L2
  double l1_latency_s = 0;        // of one from L1
  std::map<double, double> loads; // bytes under way on each multiprocessor -> bytes/s of all
  double launch_s = 0;
  double lsu_lanes = 32;      // addresses that one multiprocessor takes a clock
  double f32_flops_per_s = 0; // of one multiprocessor
  double f16_flops_per_s = 0; // not of its matrix units, likewise
  double f64_flops_per_s = 0; // likewise
  std::map<std::string, double> matrix_flops_per_s; // of one multiprocessor, by input type
  double mma_share = 1;                             // of that, which mma.sync reaches
  std::string source;

  // Bytes per second that loads get, of all multiprocessors, with so many bytes under way on each:
  // on lines through the measured points and on beyond the last; where nobody has published any,
  // by the latency. At most what a copy reaches.
  double loads_at(double bytes_under_way) const;
  // So many on each multiprocessor get a copy's rate.
  double bytes_for_a_copy() const;
};

// Throws kg::Error with the file and the JSON pointer when it is missing or malformed.
std::vector<Gpu> load_gpus(const std::filesystem::path& path);

// "sm_90", from a compute capability of "9.0".
std::string arch_of(const Gpu& gpu);

// So many multiprocessors of the GPU, with their share of its memory and its L2.
Gpu part_of(Gpu gpu, double sms);

} // namespace kg::model
