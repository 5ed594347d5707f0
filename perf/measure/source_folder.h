// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace kg::perf {

// The folder that holds baselines/, kernels/ and perf/. That is `built_from`, the checkout in which
// the program was compiled, if it exists here. Otherwise it is the nearest folder above `program`
// with baselines/, as in a bundle. If neither exists, returns `built_from` for use in messages.
std::filesystem::path source_folder(const std::filesystem::path& built_from,
                                    const std::filesystem::path& program);
std::filesystem::path source_folder(const std::filesystem::path& built_from); // of this program

} // namespace kg::perf
