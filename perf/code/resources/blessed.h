// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The resources of kernels that need not be compiled (sources.h): what the compiler decides is as
// blessed, and how they are launched is known from the executor as ever.
#pragma once

#include "perf/code/resources/compiled.h"
#include "perf/judge/exact_table.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace kg::resources {

// The op's blessed rows with shared memory, threads and occupancy of its launches; a kernel that
// `launches` does not hold keeps those too. `why` becomes ExactMeasured::as_blessed. The site of
// each is its definition, where the folder `sources` holds it.
std::vector<judge::ExactMeasured> blessed_resources(const std::vector<judge::ExactRow>& blessed,
                                                    std::string_view arch, const std::string& op,
                                                    const Launches& launches,
                                                    const std::filesystem::path& sources,
                                                    const std::string& why);

} // namespace kg::resources
