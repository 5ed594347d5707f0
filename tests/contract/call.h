// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A problem of an operation, and a call: the problem with its tensors bound to device memory.
#pragma once

#include <any>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "runtime/buffer.h"
#include "runtime/dtype.h"
#include "runtime/error.h"
#include "runtime/stream.h"
#include "runtime/view.h"
#include "runtime/work.h"
#include "tests/contract/parameters.h"
#include "tests/oracle/device_numbers.h"
#include "tests/oracle/strided.h"

namespace kg::card {

// The period of timed inputs. A prime, so that a kernel that is off by a tile or a row reads
// different values.
inline constexpr std::int64_t kUsualPeriod = 1'000'003;

struct Tensor {
  std::string name;
  Dtype dtype;
  std::vector<std::int64_t> extents; // row-major
  // Indexed by output row: a window of output rows needs only the same rows of this tensor.
  bool by_row = true;
  std::vector<std::string> may_be = {}; // output: the inputs whose memory it may share
  std::int64_t gap = 0;                 // elements after each row, in every layout
  // Every axis but the last has its own stride; otherwise only rows may have gaps.
  bool strided = false;
  bool derived = false; // the extents follow from those of other tensors
  // The bits of element i of an input that cannot be random, such as an index.
  std::function<std::uint64_t(std::int64_t)> element = {};
  // The period of such an input when timed, so that only one period is computed; 0: none.
  std::int64_t period = 0;
  bool made = false;        // input computed by Problem::make when timed
  std::size_t row_axis = 0; // the axis of the rows
  bool optional = false;    // may be null
  // Optional output: neither part of the work nor timed.
  bool extra = false;
  // The column axis (the last one) if outputs that need all rows need only the same columns of this
  // tensor; -1: none.
  int col_axis = -1;
  // Output: the one-element output that holds the number of leading elements written here. The rest
  // keeps its old contents.
  std::string counted_by = {};
  std::string_view c_type = {}; // in a signature, if dtype only gives the element size

  std::int64_t size() const { return test::element_count(extents); }
};

// The elements of each input by name, dense and row-major.
using Inputs = std::map<std::string, test::Observed, std::less<>>;

// How to call a candidate kernel (signature.h): the words of its function's name and its integer
// arguments, single or as a list in host memory. An integer replaces a scalar of the same name.
struct Integers {
  std::string name;
  std::vector<std::int64_t> values;
  bool list = false;
};
struct Calling {
  std::string words;
  std::vector<Integers> integers;
  bool replaces(std::string_view scalar) const;
};

class Call;

struct Problem {
  Dtype dtype;
  std::string shape; // as in the case's id
  Work work;         // declared by the operation's header
  double flops;      // expected work.flops, computed independently
  std::vector<Tensor> inputs = {};
  std::vector<Tensor> outputs = {}; // an output that is also an input is updated in place
  std::map<std::string, double, std::less<>> scalars = {};
  bool gaps = false;             // rows may have gaps
  bool pitched = false;          // gaps come from leading dimensions shared by all matrices
  std::vector<Tensor> kept = {}; // saved by a library's forward pass (Vendors::prepare)
  // Inputs not given by a sample are arbitrary bit patterns instead of numbers.
  bool patterns = false;
  bool tf32 = false;    // f32 matrices may be rounded to TF32
  double unread = 0;    // bytes of inputs that need not be read
  double unwritten = 0; // bytes of outputs that need not be written
  // If this is a window of a larger problem: the index of its first row.
  std::int64_t first_row = 0;
  // Adds inputs that are not standard normal, or derived from others, to the given ones. Not used
  // when timed.
  std::function<void(const Problem&, Inputs&)> draw = [](const Problem&, Inputs&) {};
  // Used instead when timed: computes derived inputs on the device.
  std::function<void(const Call&, Stream&)> make = {};
  std::vector<std::string> left_out = {}; // optional tensors that this problem omits
  std::optional<Calling> calling = {};    // default: by the words and numbers of the shape
  Parameters parameters = {};             // of the shape, if the card declares a ShapeGrammar

  const Tensor& tensor(std::string_view name) const;
  Problem without(std::string_view optional_tensor) const;
  bool updates(std::string_view tensor) const; // both input and output
  std::int64_t output_size() const;            // elements of all outputs
};

// The placement of a tensor in its storage, which is aligned to 256 bytes; in elements.
struct Place {
  std::int64_t offset = 0;
  std::int64_t gap = 0; // after each row
  // Strided tensor: the strides of all axes but the last; empty: as `gap` implies.
  std::vector<std::int64_t> strides = {};
};
using Layout = std::map<std::string, Place, std::less<>>; // other tensors: offset 0, no gaps

Place place_of(const Layout& layout, std::string_view tensor);
test::Strided strided(const Tensor& tensor, const Layout& layout);

class Call {
 public:
  explicit Call(const Problem& problem) : problem_(&problem) {}

  // data: the tensor's first element; gap: elements after each row of the layout; step: the
  // distance between elements of a row.
  void bind(std::string_view tensor, void* data, std::int64_t gap = 0, std::int64_t step = 1);
  void bind(std::string_view tensor, void* data, const Place& place);

  const Problem& problem() const { return *problem_; }

  // The tensor of this name; null if it is not bound or omitted. Throws Error if it has another
  // type.
  template <class T>
  const T* in(std::string_view tensor) const {
    return static_cast<const T*>(data(tensor, test::DtypeOf<T>::value));
  }
  template <class T>
  T* out(std::string_view tensor) const {
    return static_cast<T*>(data(tensor, test::DtypeOf<T>::value));
  }
  // The same for any type; used by libraries.
  void* address(std::string_view tensor) const;

  // Device memory for a variant's workspace, initially poisoned. Repeated runs of a problem share
  // it.
  void* workspace(std::size_t bytes) const;
  // Throws Error if a kernel wrote outside the workspace.
  void check_workspace() const;

  // State that a caller derives from the tensors and keeps across runs, such as a tensor list in
  // device memory. Calls make() the first time, and again after bind().
  template <class Make>
  const auto& once(Make make) const {
    using Made = std::invoke_result_t<Make>;
    if (!made_->has_value()) made_->emplace<Made>(make());
    return *std::any_cast<Made>(made_.get());
  }

  // The tensor as a matrix: the last axis is the columns, all others the rows. Untyped for kernels
  // that only use the element size.
  MatrixView<const void> rows_in(std::string_view tensor) const {
    return rows<const void>(tensor, address(tensor));
  }
  MatrixView<void> rows_out(std::string_view tensor) const {
    return rows<void>(tensor, address(tensor));
  }
  template <class T>
  MatrixView<const T> rows_in(std::string_view tensor) const {
    return rows<const T>(tensor, in<T>(tensor));
  }
  template <class T>
  MatrixView<T> rows_out(std::string_view tensor) const {
    return rows<T>(tensor, out<T>(tensor));
  }

  std::int64_t extent(std::string_view tensor, std::size_t axis) const;
  std::int64_t leading(std::string_view tensor) const; // elements between rows
  // Elements between neighbouring indices of an axis other than the last.
  std::int64_t stride(std::string_view tensor, std::size_t axis) const;
  float scalar(std::string_view name) const;

 private:
  struct Bound {
    void* data = nullptr;
    std::int64_t gap = 0;
    std::int64_t step = 1;
    std::vector<std::int64_t> strides = {};
  };

  void* data(std::string_view tensor, Dtype dtype) const;
  const Bound& bound(std::string_view tensor) const;

  template <class T>
  MatrixView<T> rows(std::string_view name, T* data) const {
    const std::vector<std::int64_t>& extents = problem_->tensor(name).extents;
    const std::int64_t cols = extents.back();
    return {data,
            {test::element_count(std::span(extents).first(extents.size() - 1)), cols},
            {leading(name), bound(name).step}};
  }

  const Problem* problem_;
  std::map<std::string, Bound, std::less<>> bound_;
  std::shared_ptr<DeviceBuffer<std::byte>> workspace_ = std::make_shared<DeviceBuffer<std::byte>>();
  std::shared_ptr<std::any> made_ = std::make_shared<std::any>();
};

// Calls function.template operator()<T>() for the kernels' floating-point type that `dtype` names.
// Throws Error for any other.
template <class Function>
auto dispatch(Dtype dtype, Function function) {
  if (dtype == Dtype::f16) return function.template operator()<f16>();
  if (dtype == Dtype::bf16) return function.template operator()<bf16>();
  require(dtype == Dtype::f32,
          "no kernel of this operation has the type " + std::string(name(dtype)));
  return function.template operator()<float>();
}

// The same for operations that only move data: one type of each size stands for all.
template <class Function>
auto dispatch_moved(Dtype dtype, Function function) {
  if (dtype == Dtype::i8) return function.template operator()<std::int8_t>();
  if (dtype == Dtype::f16) return function.template operator()<f16>();
  if (dtype == Dtype::f64) return function.template operator()<double>();
  require(dtype == Dtype::f32, "no test moves elements of the type " + std::string(name(dtype)));
  return function.template operator()<float>();
}

} // namespace kg::card
