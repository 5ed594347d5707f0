// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// The sources that a program is made of, found by what they include, without a compiler.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace kg::cost {

// By name, relative to `source`: the text.
using Texts = std::map<std::string, std::string>;

// The roots and all that is reached from them. A file reaches what it includes, whatever the
// condition, and a header what defines what it declares: below kernels/, where an operation's
// header stands for several sources, all sources beside it, elsewhere the one of its name. Includes
// lead to the file's own folder, to kernels/ or to `source`; in angle brackets, to the system, too.
// Throws Error where a file is not there, or an include does not write out its name.
Texts reached(const std::filesystem::path& source, const std::vector<std::string>& roots);

} // namespace kg::cost
