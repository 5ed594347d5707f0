// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace kg::judge {

// folder / (name + extension). Every name that comes from a file or from a device and becomes part
// of a path goes through here, so that none leads out of its folder. Throws kg::Error, naming
// `what` ("device"), for a name that is not 1 to 200 letters, digits, '_', '-' and '.', or that
// begins with '.' or '-'.
std::filesystem::path named_path(const std::filesystem::path& folder, std::string_view what,
                                 std::string_view name, std::string_view extension = "");

} // namespace kg::judge
