// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// What the build knows of the machine code that it links (host backend). Defined by a generated
// file (cmake/Identity.cmake), so that the program may be copied anywhere.
#pragma once

#include <map>
#include <string>

namespace kg::identity {

// By op: the hash of its library and the executor's.
const std::map<std::string, std::string>& code_hashes();

} // namespace kg::identity
