// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Finds the sources of a program by following includes, without a compiler.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace kg::cost {

// Text by file name, relative to `source`.
using Texts = std::map<std::string, std::string>;

// The roots and all files that they reach. A file reaches every file it includes, under any
// preprocessor condition. A header also reaches the sources that define its declarations: below
// kernels/ all sources in its folder, elsewhere the source of the same name. An include is searched
// in the file's own folder, in kernels/ and in `source`; in angle brackets it may also be a system
// header. Throws Error if a file is missing or an include does not spell out its name.
Texts reached(const std::filesystem::path& source, const std::vector<std::string>& roots);

} // namespace kg::cost
