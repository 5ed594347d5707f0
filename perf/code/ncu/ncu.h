// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What NVIDIA Nsight Compute read off the hardware's counters.
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

// The launches in a file of `ncu --csv --page raw --print-units base --log-file FILE`, in order: a
// header that begins with "ID", a record of units, a record per launch; before them what ncu says
// of itself. Metrics without a value are left out. Throws Error with file and line where it is
// something else.
std::vector<Launch> read_ncu(const std::filesystem::path& path);
std::vector<Launch> parse_ncu(std::string_view contents, const std::string& file);

// A kernel's own name, without namespaces, template arguments and parameters, in which compilers
// differ: "void kg::softmax::(anonymous namespace)::block<float, 4>(...)" -> "block".
std::string own_name(std::string_view kernel);

} // namespace kg::hardware
