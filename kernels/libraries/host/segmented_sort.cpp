// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
#include "libraries/segmented_sort.h"

namespace kg::vendor {

const Table<SegmentedSortVariant> segmented_sort_table = {}; // Thrust has no segmented sort

} // namespace kg::vendor
