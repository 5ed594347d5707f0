// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Drops rights of this process using Linux's Landlock and seccomp, without root.
#pragma once

#include <string>
#include <vector>

namespace kg::candidate {

// Whether this kernel has Landlock (Linux 5.13 and later).
bool can_confine();

// Permanently confines this process and its children: they may create, change and remove files
// below the writable folders and write to devices, but have no internet sockets. Reading and local
// sockets stay allowed. Returns "", or the call that the kernel refused; then the process must not
// continue.
std::string confine(const std::vector<std::string>& writable);

} // namespace kg::candidate
