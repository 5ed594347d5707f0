// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Hashes of the machine code that the build links (host backend). A generated file
// (cmake/Identity.cmake) defines them, so the program works from any folder.
#pragma once

#include <map>
#include <string>

namespace kg::identity {

// By operation: the hash of its library and of the emulator.
const std::map<std::string, std::string>& code_hashes();

} // namespace kg::identity
