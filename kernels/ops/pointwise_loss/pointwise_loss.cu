// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// Two reads and one write per element, 12 n bytes in f32 and 6 n in 16 bits; backward three reads,
// 16 n and 8 n. Expected on an H200: the bandwidth of other mixed streams, 4.1 to 4.4 TB/s, for
// mse, huber and kl in all types. bce forward takes some 40 instructions per element, about the
// time of 6 bytes of memory traffic in 16-bit types.
//
// Each thread issues two to six 16-byte loads before it uses the first: 32 KiB and more in flight
// per multiprocessor, which needs 28 (see elementwise.cu). Why not sum the losses in this kernel:
// `reduction` does so at a quarter of these bytes, with its own order of additions.
#include "ops/pointwise_loss/pointwise_loss.h"

#include "ops/pointwise_loss/formula.h"
#include "primitives/map.h"
#include "runtime/error.h"
#include "runtime/launch.h"
#include "runtime/preconditions.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

namespace kg::pointwise_loss {

// Packs per input that a thread loads before it uses the first; as many as registers permit.
template <class T>
constexpr int kPacksPerInput = sizeof(T) == sizeof(float) ? 2 : 1;

// A loss has inputs x and target, a gradient also dloss. The number of inputs selects which of them
// a kernel computes.
constexpr int inputs_of(Direction direction) { return direction == Direction::forward ? 2 : 3; }

template <Kind kind, class T, int Inputs>
struct Apply {
  float delta;

  __device__ void operator()(const T (&in)[Inputs], T (&out)[1]) const {
    const float x = to_float(in[0]), t = to_float(in[1]);
    if constexpr (Inputs == inputs_of(Direction::forward))
      out[0] = from_float<T>(loss<kind>(x, t, delta));
    else
      out[0] = from_float<T>(slope<kind>(x, t, delta) * to_float(in[2]));
  }
};

template <Kind kind, class T, int Inputs>
__global__ void __launch_bounds__(kMapThreads)
    naive(Arrays<T, Inputs, 1> arrays, std::int64_t n, float delta) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) map_element(arrays, i, Apply<kind, T, Inputs>{delta});
}

template <Kind kind, class T, int Inputs>
__global__ void __launch_bounds__(kMapThreads, kMapBlocksPerSm)
    vectorized(Arrays<T, Inputs, 1> arrays, std::int64_t n, int head, float delta) {
  map_aligned<kPacksPerInput<T>>(arrays, n, head, Apply<kind, T, Inputs>{delta});
}

template <Kind kind, class T, int Inputs>
__global__ void __launch_bounds__(kMapThreads, kMapBlocksPerSm)
    misaligned(Arrays<T, Inputs, 1> arrays, std::int64_t n, float delta) {
  map_misaligned<kPacksPerInput<T>>(arrays, n, Apply<kind, T, Inputs>{delta});
}

namespace {

template <Kind kind, class T, int Inputs>
void launch_variant(const Arrays<T, Inputs, 1>& arrays, const Problem<T>& p, Variant variant,
                    Stream& stream) {
  if (variant == Variant::naive) {
    const unsigned grid =
        grid_x(div_up(p.n, kMapThreads),
               "pointwise_loss: " + std::to_string(p.n) + " elements, one per thread,",
               "use Variant::vectorized");
    launch(naive<kind, T, Inputs>, {.grid = grid, .block = kMapThreads, .stream = &stream}, arrays,
           p.n, p.delta);
    return;
  }
  const LaunchConfig config{
      .grid = map_grid<T, kPacksPerInput<T>>(p.n), .block = kMapThreads, .stream = &stream};
  const int head = common_head(arrays);
  if (head >= 0)
    launch(vectorized<kind, T, Inputs>, config, arrays, p.n,
           static_cast<int>(std::min<std::int64_t>(head, p.n)), p.delta);
  else
    launch(misaligned<kind, T, Inputs>, config, arrays, p.n, p.delta);
}

template <Kind kind, class T>
void launch_kind(const Problem<T>& p, Variant variant, Stream& stream) {
  if (p.direction == Direction::forward)
    launch_variant<kind>(Arrays<T, 2, 1>{{p.x, p.target}, {p.result}}, p, variant, stream);
  else
    launch_variant<kind>(Arrays<T, 3, 1>{{p.x, p.target, p.loss_gradient}, {p.result}}, p, variant,
                         stream);
}

template <class T>
void require_valid(const Problem<T>& p) {
  require_extent("pointwise_loss: n", p.n);
  require(p.kind != Kind::huber || (p.delta > 0 && std::isfinite(p.delta)),
          "pointwise_loss: delta is " + std::to_string(p.delta) +
              "; it must be positive and finite");
  const std::int64_t bytes = p.n * static_cast<std::int64_t>(sizeof(T));
  const auto require_input = [&](const std::string& what, const T* data) {
    require_elements("pointwise_loss: " + what, data, p.n);
    require_same_or_apart("pointwise_loss: " + what, data, "result", p.result, bytes);
  };
  require_elements("pointwise_loss: result", p.result, p.n);
  if (p.n == 0) return;
  require_input("x", p.x);
  require_input("target", p.target);
  if (p.direction == Direction::backward) require_input("loss_gradient", p.loss_gradient);
}

} // namespace

template <class T>
Variant run(const Problem<T>& p, Variant variant, Stream& stream) {
  require_valid(p);
  variant = resolved(variant);
  if (p.n == 0) return variant;
  switch (p.kind) {
  case Kind::mse: launch_kind<Kind::mse>(p, variant, stream); break;
  case Kind::huber: launch_kind<Kind::huber>(p, variant, stream); break;
  case Kind::bce: launch_kind<Kind::bce>(p, variant, stream); break;
  case Kind::kl: launch_kind<Kind::kl>(p, variant, stream); break;
  }
  return variant;
}

template <class T>
Work work(const Problem<T>& p) {
  const bool forward = p.direction == Direction::forward;
  const auto count = static_cast<double>(p.n);
  double operations = 0;
  switch (p.kind) {
  case Kind::mse: operations = forward ? 2 : 3; break;
  case Kind::huber: operations = forward ? 3 : 2; break;
  case Kind::bce: operations = 5; break;
  case Kind::kl: operations = forward ? 3 : 1; break;
  }
  return {.bytes = (inputs_of(p.direction) + 1) * count * sizeof(T),
          .written = count * sizeof(T),
          .flops = operations * count};
}

template Variant run(const Problem<float>&, Variant, Stream&);
template Variant run(const Problem<f16>&, Variant, Stream&);
template Variant run(const Problem<bf16>&, Variant, Stream&);
template Work work(const Problem<float>&);
template Work work(const Problem<f16>&);
template Work work(const Problem<bf16>&);

} // namespace kg::pointwise_loss
