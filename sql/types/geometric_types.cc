// point, lseg, line, box, path, polygon and circle: values lie in columns as the text that PostgreSQL prints.

#include <fmt/format.h>

#include <bit>

#include "sql/sqlstate.h"
#include "sql/types/geometry.h"
#include "sql/types/type_definition.h"
#include "sql/types/type_families.h"

namespace redquel::sql {
namespace {

using Numbers = std::vector<double>;

SqlError invalid_geometry(std::string message) { return SqlError(sqlstate::kInvalidBinaryRepresentation, std::move(message)); }

void add_point(const Point& point, Numbers& numbers) {
  numbers.push_back(point.x);
  numbers.push_back(point.y);
}
Numbers numbers_of(const std::vector<Point>& points) {
  Numbers numbers;
  for (const Point& point : points) add_point(point, numbers);
  return numbers;
}
std::vector<Point> points_of(const Numbers& numbers) {
  std::vector<Point> points;
  for (std::size_t i = 0; i + 1 < numbers.size(); i += 2) points.push_back({numbers[i], numbers[i + 1]});
  return points;
}

// A form has the input function of a shape and the numbers of its binary form: kCount of them, or their count in front if kCount is 0.

struct PointForm {
  static constexpr std::size_t kCount = 2;
  static Point parse(std::string_view text) { return parse_point(text); }
  static Numbers numbers(const Point& value) { return {value.x, value.y}; }
  static Point from(const Numbers& numbers, bool) { return {numbers[0], numbers[1]}; }
};
struct SegmentForm {
  static constexpr std::size_t kCount = 4;
  static Segment parse(std::string_view text) { return parse_segment(text); }
  static Numbers numbers(const Segment& value) { return numbers_of({value.begin, value.end}); }
  static Segment from(const Numbers& numbers, bool) { return {{numbers[0], numbers[1]}, {numbers[2], numbers[3]}}; }
};
struct LineForm {
  static constexpr std::size_t kCount = 3;
  static Line parse(std::string_view text) { return parse_line(text); }
  static Numbers numbers(const Line& value) { return {value.a, value.b, value.c}; }
  static Line from(const Numbers& numbers, bool) {
    if (nearly_zero(numbers[0]) && nearly_zero(numbers[1])) {
      throw invalid_geometry("invalid line specification: A and B cannot both be zero");
    }
    return {numbers[0], numbers[1], numbers[2]};
  }
};
struct BoxForm {
  static constexpr std::size_t kCount = 4;
  static Box parse(std::string_view text) { return parse_box(text); }
  static Numbers numbers(const Box& value) { return numbers_of({value.high, value.low}); }
  static Box from(const Numbers& numbers, bool) { return box_of_corners({numbers[0], numbers[1]}, {numbers[2], numbers[3]}); }
};
struct PathForm {
  static constexpr std::size_t kCount = 0;
  static Path parse(std::string_view text) { return parse_path(text); }
  static Numbers numbers(const Path& value) { return numbers_of(value.points); }
  static Path from(const Numbers& numbers, bool closed) { return {closed, points_of(numbers)}; }
};
struct PolygonForm {
  static constexpr std::size_t kCount = 0;
  static Polygon parse(std::string_view text) { return parse_polygon(text); }
  static Numbers numbers(const Polygon& value) { return numbers_of(value.points); }
  static Polygon from(const Numbers& numbers, bool) { return {points_of(numbers)}; }
};
struct CircleForm {
  static constexpr std::size_t kCount = 3;
  static Circle parse(std::string_view text) { return parse_circle(text); }
  static Numbers numbers(const Circle& value) { return {value.center.x, value.center.y, value.radius}; }
  static Circle from(const Numbers& numbers, bool) {
    if (numbers[2] < 0) throw invalid_geometry("invalid radius in external \"circle\" value");
    return {{numbers[0], numbers[1]}, numbers[2]};
  }
};

template <class Form>
struct GeometricType : StoredAs<std::string_view> {
  static constexpr bool kIsPath = std::is_same_v<Form, PathForm>;

  static std::string parse(const TextInput& input) { return printed(Form::parse(input.text), 1); }
  static void format(Type, Value value, const SessionSettings& settings, std::string& out) {
    if (settings.extra_float_digits < 1) {
      append_geometry(Form::parse(value), out, settings.extra_float_digits);
    } else {
      out += value;
    }
  }
  static bool prints_stored_form(Type, const SessionSettings& settings) { return settings.extra_float_digits > 0; }
  static bool depends_on_settings(Type) { return true; }

  /// A path has a byte (1: closed) in front, a path and a polygon the number of their points.
  static std::string decode(Type type, BinaryReader& reader) {
    const bool closed = kIsPath && reader.byte() != 0;
    std::size_t count = Form::kCount;
    if (count == 0) {
      const auto points = static_cast<std::int32_t>(reader.integer<std::uint32_t>());
      constexpr std::int32_t kMostPoints = 1 << 26;
      if (points <= 0 || points >= kMostPoints) {
        throw invalid_geometry(fmt::format("invalid number of points in external \"{}\" value", type_info(type.oid).name));
      }
      count = 2 * static_cast<std::size_t>(points);
    }
    Numbers numbers;
    for (std::size_t i = 0; i < count; ++i) numbers.push_back(std::bit_cast<double>(reader.integer<std::uint64_t>()));
    return printed(Form::from(numbers, closed), 1);
  }
  static void encode(Type, Value value, std::string& out, EncodingConverter*) {
    const Numbers numbers = Form::numbers(Form::parse(value));
    if (kIsPath) out.push_back(value.starts_with('(') ? '\1' : '\0');
    if (Form::kCount == 0) put_binary(static_cast<std::uint32_t>(numbers.size() / 2), out);
    for (const double number : numbers) put_binary(std::bit_cast<std::uint64_t>(number), out);
  }

 private:
  template <class Shape>
  static std::string printed(const Shape& shape, int digits) {
    std::string out;
    append_geometry(shape, out, digits);
    return out;
  }
};

/// A shape of fixed size: PostgreSQL has its floats in memory one after the other.
template <class Form>
struct FixedGeometricType : GeometricType<Form> {
  static std::string memory_image(Type type, std::string_view value) { return turned_image(binary_of<FixedGeometricType>(type, value), {8}); }
};

}  // namespace

std::span<const TypeRow> geometric_types() {
  static constexpr TypeRow kRows[] = {
      type_row<FixedGeometricType<PointForm>>({.oid = oid::kPoint, .name = "point", .category = kGeometricCategory, .length = 16,
                                               .alignment = 'd', .array = 1017},
                                              {"point_in", "point_out", "point_send"}),
      type_row<FixedGeometricType<SegmentForm>>({.oid = oid::kLseg, .name = "lseg", .category = kGeometricCategory, .length = 32,
                                                 .alignment = 'd', .array = 1018},
                                                {"lseg_in", "lseg_out", "lseg_send"}),
      type_row<GeometricType<PathForm>>({.oid = oid::kPath, .name = "path", .category = kGeometricCategory, .alignment = 'd', .array = 1019},
                                        {"path_in", "path_out", "path_send"}),
      type_row<FixedGeometricType<BoxForm>>({.oid = oid::kBox, .name = "box", .category = kGeometricCategory, .length = 32, .alignment = 'd',
                                             .array = 1020},
                                            {"box_in", "box_out", "box_send"}),
      type_row<GeometricType<PolygonForm>>({.oid = oid::kPolygon, .name = "polygon", .category = kGeometricCategory, .alignment = 'd',
                                            .array = 1027},
                                           {"poly_in", "poly_out", "poly_send"}),
      type_row<FixedGeometricType<LineForm>>({.oid = oid::kLine, .name = "line", .category = kGeometricCategory, .length = 24,
                                              .alignment = 'd', .array = 629},
                                             {"line_in", "line_out", "line_send"}),
      type_row<FixedGeometricType<CircleForm>>({.oid = oid::kCircle, .name = "circle", .category = kGeometricCategory, .length = 24,
                                                .alignment = 'd', .array = 719},
                                               {"circle_in", "circle_out", "circle_send"}),
  };
  return kRows;
}

}  // namespace redquel::sql
