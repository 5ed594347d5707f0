// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads hardware counters measured by NVIDIA Nsight Compute.
#pragma once

#include <array>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace kg::hardware {

struct Launch {
  std::string kernel; // as ncu writes it: with return type, template arguments and parameters
  std::array<unsigned, 3> grid{1, 1, 1};
  std::array<unsigned, 3> block{1, 1, 1};
  std::map<std::string, double> metrics; // by ncu's names, in base units
};

// The launches in a file of `ncu --csv --page raw --print-units base --log-file FILE`, in order.
// The format: ncu's own messages, a header that begins with "ID", a record of units, and a record
// per launch. Omits metrics without a value. Throws Error with file and line for any other format.
std::vector<Launch> read_ncu(const std::filesystem::path& path);
std::vector<Launch> parse_ncu(std::string_view contents, const std::string& file);

// A kernel's name without namespaces, template arguments and parameters, which compilers write
// differently: "void kg::softmax::(anonymous namespace)::block<float, 4>(...)" -> "block".
std::string own_name(std::string_view kernel);

} // namespace kg::hardware
