// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// conv2d, variant jit: a kernel compiled at run time for one geometry (jit_kernel.cuh).
//
// Bytes: x once per tap and block of output channels, mostly from the caches; weights once per
// thread block, into shared memory; y written once. Flops: two per product. A thread computes up to
// 4 positions x 8 output channels, so that each value of x serves 8 and each weight 4
// multiply-adds. One output per thread would load two values for each. Neighbouring threads take
// neighbouring columns: accesses are coalesced in nchw, and strided by the channels in nhwc. The
// stride costs nothing for few channels, but makes this variant unsuitable for many. Expected on an
// H200: 30 % of the f32 peak in nchw. Compiling takes about 0.5 to 3 seconds, once per geometry and
// machine.
#include "ops/conv2d/jit_kernel.h"
#include "ops/conv2d/variants.h"

#include "runtime/device.h"
#include "runtime/jit.h"
#include "runtime/launch.h"
#include "runtime/preconditions.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <string>

namespace kg::conv2d {
namespace {

constexpr int kThreads = 128;
constexpr int kMostPlaces = 4;
constexpr int kMostOutputs = 8;
constexpr std::int64_t kStagedFloats = 48 * 1024 / sizeof(float); // without opting in to more

template <class T>
constexpr const char* element = "float";
template <>
constexpr const char* element<f16> = "kg::f16";
template <>
constexpr const char* element<bf16> = "kg::bf16";

template <class T>
using Kernel = jit::Compiled<const T*, const T*, const T*, T*, unsigned>;

// The distribution of a geometry over threads.
struct Tiles {
  std::int64_t outputs = kMostOutputs;
  std::int64_t places = kMostPlaces;
  std::int64_t staged_rows = 1;
  std::int64_t channel_blocks = 1;
  std::int64_t place_blocks = 1;
  std::size_t shared_bytes = 0;
};

Tiles tiles_of(const Geometry& g) {
  Tiles tiles;
  const std::int64_t row = g.horizontal.kernel * g.group_inputs(); // weights per output channel
  while (tiles.outputs > 1 &&
         (tiles.outputs / 2 >= g.group_outputs() || row * tiles.outputs > kStagedFloats))
    tiles.outputs /= 2;
  require(row <= kStagedFloats, "conv2d: variant jit keeps a row of a kernel's weights in shared "
                                "memory, at most " +
                                    std::to_string(kStagedFloats) +
                                    " of them, and this geometry has " + std::to_string(row) +
                                    "; use another variant");
  tiles.staged_rows = std::min(g.vertical.kernel, kStagedFloats / (row * tiles.outputs));
  tiles.shared_bytes =
      static_cast<std::size_t>(tiles.staged_rows * row * tiles.outputs) * sizeof(float);
  tiles.channel_blocks = g.groups * div_up(g.group_outputs(), tiles.outputs);
  // Fewer positions per thread if there would be too few blocks for all multiprocessors.
  const std::int64_t places = g.batch * g.out_places();
  const std::int64_t enough = 2 * device_properties().sm_count;
  const auto blocks = [&] { return div_up(places, kThreads * tiles.places); };
  while (tiles.places > 1 && blocks() * tiles.channel_blocks < enough) tiles.places /= 2;
  tiles.place_blocks = blocks();
  return tiles;
}

template <class T>
std::map<std::string, std::string> constants_of(const Geometry& g, const Tiles& tiles) {
  const std::int64_t most = std::max({g.inputs(), g.weights(), g.outputs()});
  std::map<std::string, std::string> constants = {
      {"KG_ELEMENT", element<T>},
      {"KG_INDEX", most <= 0x7fffffff ? "int" : "long long"},
      {"KG_CHANNELS_LAST", g.layout == Layout::nhwc ? "true" : "false"}};
  const std::pair<const char*, std::int64_t> numbers[] = {
      {"KG_HEIGHT", g.height},
      {"KG_WIDTH", g.width},
      {"KG_OUT_HEIGHT", g.out_height()},
      {"KG_OUT_WIDTH", g.out_width()},
      {"KG_IN_CHANNELS", g.in_channels},
      {"KG_OUT_CHANNELS", g.out_channels},
      {"KG_GROUP_INPUTS", g.group_inputs()},
      {"KG_GROUP_OUTPUTS", g.group_outputs()},
      {"KG_KERNEL_HEIGHT", g.vertical.kernel},
      {"KG_KERNEL_WIDTH", g.horizontal.kernel},
      {"KG_STRIDE_DOWN", g.vertical.stride},
      {"KG_STRIDE_ACROSS", g.horizontal.stride},
      {"KG_PAD_TOP", g.vertical.pad_before},
      {"KG_PAD_LEFT", g.horizontal.pad_before},
      {"KG_DILATION_DOWN", g.vertical.dilation},
      {"KG_DILATION_ACROSS", g.horizontal.dilation},
      {"KG_THREADS", kThreads},
      {"KG_PLACES", tiles.places},
      {"KG_OUTPUTS", tiles.outputs},
      {"KG_STAGED_ROWS", tiles.staged_rows}};
  for (const auto& [name, value] : numbers) constants[name] = std::to_string(value);
  return constants;
}

// Kernels loaded by this process, keyed by their constants, so that launches do not access the
// disk. The key includes the device's architecture, for which the machine code is compiled.
template <class T>
const Kernel<T>& kernel_for(const Geometry& g, const Tiles& tiles) {
  static std::mutex mutex;
  static std::map<std::map<std::string, std::string>, Kernel<T>> known;
  std::map<std::string, std::string> constants = constants_of<T>(g, tiles);
  constants["KG_ARCHITECTURE"] = std::to_string(compute_capability());
  std::lock_guard lock(mutex);
  const auto found = known.find(constants);
  if (found != known.end()) return found->second;
  const jit::Source source{"conv2d/jit_kernel.cuh", jit_kernel, "conv2d_jit", constants};
  return known
      .emplace(constants,
               jit::compile<const T*, const T*, const T*, T*, unsigned>(source, jit::toolchain()))
      .first->second;
}

} // namespace

template <class T>
Compilation prepare_jit(const Geometry& geometry) {
  require_geometry("conv2d", geometry);
  const Tiles tiles = tiles_of(geometry);
  const Kernel<T>& kernel = kernel_for<T>(geometry, tiles);
  return {kernel.compile_us, kernel.from_cache};
}

template <class T>
void run_jit(const Problem<T>& problem, Stream& stream) {
  const Geometry& g = problem.geometry;
  const Tiles tiles = tiles_of(g);
  const unsigned places = window::count_threads("conv2d: variant jit", g.batch * g.out_places());
  const unsigned blocks = grid_x(tiles.place_blocks * tiles.channel_blocks,
                                 "conv2d: the tiles of variant jit", "split the batch");
  launch(kernel_for<T>(g, tiles).kernel,
         {.grid = blocks, .block = kThreads, .shared_bytes = tiles.shared_bytes, .stream = &stream},
         problem.x, problem.weights, problem.bias, problem.y, places);
}

template Compilation prepare_jit<float>(const Geometry&);
template Compilation prepare_jit<f16>(const Geometry&);
template Compilation prepare_jit<bf16>(const Geometry&);
template void run_jit(const Problem<float>&, Stream&);
template void run_jit(const Problem<f16>&, Stream&);
template void run_jit(const Problem<bf16>&, Stream&);

} // namespace kg::conv2d
