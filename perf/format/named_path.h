// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace kg::judge {

// folder / (name + extension). Builds every path from names that come from a file or a device, so
// that no path leads out of its folder. A valid name is 1 to 200 letters, digits, '_', '-' and '.',
// and does not begin with '.' or '-'. For other names, throws kg::Error that contains `what`
// ("device").
std::filesystem::path named_path(const std::filesystem::path& folder, std::string_view what,
                                 std::string_view name, std::string_view extension = "");

} // namespace kg::judge
