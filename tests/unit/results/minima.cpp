// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// minima DEVICE.json: a line for each operation, type and pre-merge shape of a GPU, on any backend:
// "<case>  <limit>  <ns>  <variants>". The limit is what bounds the case (perf/judge/roof.h) by the
// file's ceilings, ns the theoretical minimum when timed cold; "-  -" where no ceiling bounds it.
// For .ci/results. Exit codes: 0, 1 on a file without ceilings, 2 usage error.
#include "perf/judge/device_file.h"
#include "perf/judge/roof.h"
#include "perf/measure/suite.h"
#include "runtime/error.h"

#include <cstdio>
#include <exception>
#include <string>

namespace kg {
namespace {

// What takes a nanosecond reaches so many times the ceiling as it needs nanoseconds.
std::string minimum(const std::string& id, const Work& work, bool tf32,
                    const judge::Ceilings& ceilings) {
  judge::Measured row;
  row.dtype = judge::dtype_of(id);
  row.key = {id, "", judge::Mode::cold};
  row.median_ns = 1;
  row.bytes = work.bytes;
  row.written = work.written;
  row.flops = work.flops;
  row.tf32 = tf32;
  const auto nearest = judge::nearest_roof(row, ceilings);
  if (!nearest) return "-  -";
  char ns[32];
  std::snprintf(ns, sizeof ns, "%.6g", nearest->share);
  return nearest->roof + "  " + ns;
}

void print(const perf::Operation& operation, Dtype dtype, const std::string& shape,
           const judge::Ceilings& ceilings) {
  const perf::Case made = operation.make(dtype, Shape::parse(shape));
  std::string variants;
  for (const perf::Variant& variant : made.variants)
    if (!variant.vendor) variants += (variants.empty() ? "" : " ") + variant.name;
  if (variants.empty()) return; // a form that the type lacks
  const std::string id = perf::case_id(operation, dtype, shape);
  std::printf("%s  %s  %s\n", id.c_str(), minimum(id, made.work, made.tf32, ceilings).c_str(),
              variants.c_str());
}

void print_all(const char* file) {
  const auto device = judge::load_device(file);
  require(device && !device->ceilings.empty(),
          std::string(file) + " has no ceilings; measure them: kernelgrade ceilings --write");
  for (const perf::Operation& operation : perf::operations())
    for (const Dtype dtype : operation.dtypes)
      for (const perf::ListedShape& shape : operation.shapes_on_gpu)
        if (shape.fast) print(operation, dtype, shape.text, judge::ceilings_of(*device));
}

} // namespace
} // namespace kg

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: minima DEVICE.json\n", stderr);
    return 2;
  }
  try {
    kg::print_all(argv[1]);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "minima: %s\n", error.what());
    return 1;
  }
}
