// Copyright The Kernelgrade Authors
// SPDX-License-Identifier: Apache-2.0
//
// A problem of an operation, and a call of it: its tensors bound to device memory.
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

// After how many elements timed inputs repeat. A prime, so that a kernel that is off by a tile or a
// row still reads other values.
inline constexpr std::int64_t kUsualPeriod = 1'000'003;

struct Tensor {
  std::string name;
  Dtype dtype;
  std::vector<std::int64_t> extents; // row-major
  // Whether one of its axes is that of the outputs' rows, so that rows of the result need only
  // these rows of it.
  bool by_row = true;
  std::vector<std::string> may_be = {}; // of an output: the inputs whose memory it may take
  std::int64_t gap = 0;                 // elements behind each row, of every layout
  // Whether each axis but the last has a stride of its own; else the rows alone lie apart.
  bool strided = false;
  bool derived = false; // whether its extents follow from those of other tensors
  // The bits of element i of an input that cannot be random: an index, say.
  std::function<std::uint64_t(std::int64_t)> element = {};
  // After how many elements such an input begins again where it is timed, so that only these need
  // be computed; 0: never.
  std::int64_t period = 0;
  bool made = false;        // an input that Problem::make computes where it is timed
  std::size_t row_axis = 0; // which of its axes the rows are
  bool optional = false;    // whether it may be null
  // Of an optional output: whether it is neither part of the work nor timed.
  bool extra = false;
  // The axis of the columns, the last one, where outputs that need all rows need only these columns
  // of it; -1: none.
  int col_axis = -1;
  // Of an output: the output of one element that says how many of its elements, from the first on,
  // are written; the others stay as they were.
  std::string counted_by = {};
  std::string_view c_type = {}; // in a signature, where the dtype is but the size of its elements

  std::int64_t size() const { return test::element_count(extents); }
};

// The elements of each input, dense and row-major, by its name.
using Inputs = std::map<std::string, test::Observed, std::less<>>;

// How a kernel from elsewhere is called (signature.h): the words of its function's name, and the
// integers that it takes, each by itself or as a list in host memory. One that has the name of a
// scalar takes its place.
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
  Work work;         // as the operation's header declares it
  double flops;      // what it should declare, said once more
  std::vector<Tensor> inputs = {};
  std::vector<Tensor> outputs = {}; // one that is an input, too, is updated in place
  std::map<std::string, double, std::less<>> scalars = {};
  bool gaps = false;    // whether rows may lie apart
  bool pitched = false; // by leading dimensions, so that no matrix has extents and steps of its own
  std::vector<Tensor> kept = {}; // what a library keeps of a forward pass (Vendors::prepare)
  // Whether inputs that a sample leaves open are bit patterns of all kinds instead of numbers.
  bool patterns = false;
  double unread = 0;    // bytes of the inputs that need not be read
  double unwritten = 0; // of the outputs that need not be written, or stay as they are
  // Where these are rows of a larger problem: which of its rows the first is.
  std::int64_t first_row = 0;
  // Adds the inputs that are no standard normals, or made of others, to those that are there
  // already. Not where it is timed.
  std::function<void(const Problem&, Inputs&)> draw = [](const Problem&, Inputs&) {};
  // Instead, where it is timed: computes on the device the inputs that are made of others.
  std::function<void(const Call&, Stream&)> make = {};
  std::vector<std::string> left_out = {}; // optional tensors that this problem does without
  std::optional<Calling> calling = {};    // none: by the words and numbers of its shape
  Parameters parameters = {};             // of its shape, where the card declares a ShapeGrammar

  const Tensor& tensor(std::string_view name) const;
  Problem without(std::string_view optional_tensor) const;
  bool updates(std::string_view tensor) const; // whether it is an input and an output
  std::int64_t output_size() const;            // elements of all outputs
};

// Where a tensor lies in its storage, which is aligned to 256 bytes, in elements.
struct Place {
  std::int64_t offset = 0;
  std::int64_t gap = 0; // behind each row
  // Of a strided tensor: the strides of all axes but the last; none: those that `gap` gives.
  std::vector<std::int64_t> strides = {};
};
using Layout = std::map<std::string, Place, std::less<>>; // tensors not named lie at 0 without gaps

Place place_of(const Layout& layout, std::string_view tensor);
test::Strided strided(const Tensor& tensor, const Layout& layout);

class Call {
 public:
  explicit Call(const Problem& problem) : problem_(&problem) {}

  // `data` is the tensor's first element, `gap` what the layout adds behind each row, `step` the
  // distance of the elements of a row.
  void bind(std::string_view tensor, void* data, std::int64_t gap = 0, std::int64_t step = 1);
  void bind(std::string_view tensor, void* data, const Place& place);

  const Problem& problem() const { return *problem_; }

  // The tensor of this name, an Error where it has another type; null where nothing was bound and
  // where the problem does without.
  template <class T>
  const T* in(std::string_view tensor) const {
    return static_cast<const T*>(data(tensor, test::DtypeOf<T>::value));
  }
  template <class T>
  T* out(std::string_view tensor) const {
    return static_cast<T*>(data(tensor, test::DtypeOf<T>::value));
  }
  // Of any type, for the vendors.
  void* address(std::string_view tensor) const;

  // Device memory that a variant needs beside the tensors, poison at first; a problem's repeated
  // runs share it.
  void* workspace(std::size_t bytes) const;
  // Throws Error where somebody wrote around it.
  void check_workspace() const;

  // What a caller makes once of the tensors and keeps from run to run, as a list of them in device
  // memory: make() the first time, and again after a bind.
  template <class Make>
  const auto& once(Make make) const {
    using Made = std::invoke_result_t<Make>;
    if (!made_->has_value()) made_->emplace<Made>(make());
    return *std::any_cast<Made>(made_.get());
  }

  // The last axis are the columns, all others the rows. Without a type, for kernels that only know
  // the size of an element.
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
  std::int64_t leading(std::string_view tensor) const; // elements from one row to the next
  // Elements from one index of an axis, which is not the last, to the next.
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

// Calls function.template operator()<T>() for the floating-point type of the kernels that `dtype`
// stands for; an Error for any other.
template <class Function>
auto dispatch(Dtype dtype, Function function) {
  if (dtype == Dtype::f16) return function.template operator()<f16>();
  if (dtype == Dtype::bf16) return function.template operator()<bf16>();
  require(dtype == Dtype::f32,
          "no kernel of this operation has the type " + std::string(name(dtype)));
  return function.template operator()<float>();
}

// The same of an operation that only moves data, where one type of each size stands for all.
template <class Function>
auto dispatch_moved(Dtype dtype, Function function) {
  if (dtype == Dtype::i8) return function.template operator()<std::int8_t>();
  if (dtype == Dtype::f16) return function.template operator()<f16>();
  if (dtype == Dtype::f64) return function.template operator()<double>();
  require(dtype == Dtype::f32, "no test moves elements of the type " + std::string(name(dtype)));
  return function.template operator()<float>();
}

} // namespace kg::card
