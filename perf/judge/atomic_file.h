// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Whole files, read and written as runtime/atomic_file.h says.
#pragma once

#include "runtime/atomic_file.h"

namespace kg::judge {

using kg::read_file;
using kg::require_writable;
using kg::write_file;

} // namespace kg::judge
