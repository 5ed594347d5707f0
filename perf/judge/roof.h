// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Times that cannot be: a row that moves bytes or does arithmetic faster than the device was ever
// seen to did not do the work, or its work is counted wrongly.
#pragma once

#include "perf/judge/device_file.h"
#include "perf/judge/result.h"

#include <string>

namespace kg::judge {

// Empty, or what is impossible about the row's median. It may exceed a ceiling by 2 %, since
// ceilings are measured, too. Looked at are "dram_bytes_per_s" for rows timed cold (a row whose
// data is in a cache may well be faster), and "<dtype>_flops_per_s" or, as the least upper bound of
// types that use matrix units, "<dtype>_matrix_flops_per_s" where there is one. A ceiling that the
// device's file lacks is not checked; neither is a row without a time.
std::string beyond_roof(const Measured& row, const DeviceFile& device);

} // namespace kg::judge
