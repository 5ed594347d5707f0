// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// No variants: oneDNN has RMS normalisation only from 3.7 on; distributions ship older versions.
#include "libraries/rmsnorm.h"

namespace kg::vendor {

const Table<RmsnormVariant> rmsnorm_table = {};

} // namespace kg::vendor
