// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace kg::perf {

// The folder that holds baselines/, kernels/ and perf/: `built_from`, the checkout that a program
// was compiled in, if this machine has it. Otherwise the nearest folder above `program` that has
// baselines/, as a bundle does. `built_from` where neither exists, so that messages name it.
std::filesystem::path source_folder(const std::filesystem::path& built_from,
                                    const std::filesystem::path& program);
std::filesystem::path source_folder(const std::filesystem::path& built_from); // of this program

} // namespace kg::perf
