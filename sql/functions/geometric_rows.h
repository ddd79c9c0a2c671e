#pragma once

#include <tuple>
#include <utility>

#include "sql/functions/lift.h"
#include "sql/types/geometry.h"

namespace redquel::sql {

/// The form in which a geometric function gets a parameter: text, or the value itself.
template <class T>
struct Geometric {
  using Wire = std::string_view;
  static constexpr bool kIs = true;
};
template <>
struct Geometric<double> {
  using Wire = double;
  static constexpr bool kIs = false;
};
template <>
struct Geometric<std::int32_t> {
  using Wire = std::int32_t;
  static constexpr bool kIs = false;
};
template <>
struct Geometric<bool> {
  using Wire = bool;
  static constexpr bool kIs = false;
};

template <class T>
T read_geometric(typename Geometric<T>::Wire value) {
  if constexpr (std::is_same_v<T, Point>) return parse_point(value);
  else if constexpr (std::is_same_v<T, Segment>) return parse_segment(value);
  else if constexpr (std::is_same_v<T, Line>) return parse_line(value);
  else if constexpr (std::is_same_v<T, Box>) return parse_box(value);
  else if constexpr (std::is_same_v<T, Path>) return parse_path(value);
  else if constexpr (std::is_same_v<T, Polygon>) return parse_polygon(value);
  else if constexpr (std::is_same_v<T, Circle>) return parse_circle(value);
  else return value;
}

/// A function over geometric values as `lift.h` wants it.
template <auto body, class Indexes>
struct GeometricBody;
template <auto body, std::size_t... i>
struct GeometricBody<body, std::index_sequence<i...>> {
  using Signature = lift::Signature<std::remove_const_t<decltype(body)>>;
  template <std::size_t n>
  using Parameter = std::remove_cvref_t<std::tuple_element_t<n, typename Signature::Parameters>>;
  using Returned = typename Signature::Result;
  using Result = typename lift::Optional<Returned>::Value;

  static Returned plain(typename Geometric<Parameter<i>>::Wire... arguments) {
    return body(read_geometric<Parameter<i>>(arguments)...);
  }
  static bool text(typename Geometric<Parameter<i>>::Wire... arguments, std::string& out) {
    const Returned value = plain(arguments...);
    if constexpr (lift::Optional<Returned>::kIs) {
      if (!value) return false;
      append_geometry(*value, out);
    } else {
      append_geometry(value, out);
    }
    return true;
  }
};

template <auto body>
constexpr auto geometric_body() {
  using Signature = lift::Signature<std::remove_const_t<decltype(body)>>;
  using Body = GeometricBody<body, std::make_index_sequence<std::tuple_size_v<typename Signature::Parameters>>>;
  if constexpr (Geometric<typename Body::Result>::kIs) {
    return &Body::text;
  } else {
    return &Body::plain;
  }
}

template <auto body>
ScalarFunction geometric(std::string_view name, std::initializer_list<Type> arguments, Type result) {
  return scalar<geometric_body<body>()>(name, arguments, result);
}
template <auto body>
CastFunction geometric_cast(Type source, Type target, CastContext context) {
  return cast<geometric_body<body>()>(source, target, context);
}

inline constexpr Type kPointType{oid::kPoint}, kSegmentType{oid::kLseg}, kPathType{oid::kPath}, kBoxType{oid::kBox},
    kPolygonType{oid::kPolygon}, kLineType{oid::kLine}, kCircleType{oid::kCircle};

}  // namespace redquel::sql
