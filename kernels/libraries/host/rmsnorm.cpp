// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// None: oneDNN has it from 3.7 on, and 2 is what distributions have.
#include "libraries/rmsnorm.h"

namespace kg::vendor {

const Table<RmsnormVariant> rmsnorm_table = {};

} // namespace kg::vendor
