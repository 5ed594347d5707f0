// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Takes rights from this process by Linux's Landlock and seccomp, without root.
#pragma once

#include <string>
#include <vector>

namespace kg::candidate {

// Whether this kernel has Landlock (Linux 5.13 and later).
bool can_confine();

// Confines this process and all that it starts, for good: it may create, change and remove files
// below the writable folders and write to devices, and has no sockets of the Internet. Reading
// stays free, and so do sockets of this machine. Returns "", or what the kernel refused; then the
// process must not go on.
std::string confine(const std::vector<std::string>& writable);

} // namespace kg::candidate
