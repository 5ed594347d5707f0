// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The formats that load.h distinguishes.
#pragma once

#include "perf/format/csv.h"
#include "perf/judge/result.h"

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace kg::imports {

judge::Results from_nvbench(const nlohmann::json& root, const std::filesystem::path& path);
judge::Results from_google_benchmark(const nlohmann::json& root, const std::filesystem::path& path);
judge::Results from_cutlass(const judge::Csv& csv, const std::filesystem::path& path);

// `text` in the alphabet of ids: letters, digits and '_', with one '_' for every run of other
// characters, none at the ends; parameters also keep '.'.
std::string id_word(std::string_view text);
std::string id_parameters(std::string_view text);

// A row without times, with the id that load.h describes.
judge::Measured imported_row(std::string_view op, std::string_view dtype,
                             std::string_view parameters, judge::Mode mode);

// Adds a row that must be new. `where` is its position in the file.
void add_row(judge::Results& run, judge::Measured row, const std::string& where);

} // namespace kg::imports
