// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The resources of kernels that need not be compiled (sources.h). The compiler's figures are the
// blessed ones; launch configurations come from the emulator as usual.
#pragma once

#include "perf/code/resources/compiled.h"
#include "perf/judge/exact_table.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace kg::resources {

// The operation's blessed rows, with shared memory, threads and occupancy from `launches`. Kernels
// absent from `launches` keep their blessed values. `why` becomes ExactMeasured::as_blessed. Each
// row's site is the kernel's definition, if found in the folder `sources`.
std::vector<judge::ExactMeasured> blessed_resources(const std::vector<judge::ExactRow>& blessed,
                                                    std::string_view arch, const std::string& op,
                                                    const Launches& launches,
                                                    const std::filesystem::path& sources,
                                                    const std::string& why);

} // namespace kg::resources
