#include "sql/types/geometry.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "sql/ascii.h"
#include "sql/error.h"
#include "sql/functions/float_math.h"
#include "sql/sqlstate.h"
#include "sql/types/number_text.h"
#include "sql/value_errors.h"

namespace redquel::sql {
namespace {

constexpr double kTolerance = 1.0e-06;

/// The shared part of the input functions, exactly as lenient about brackets as PostgreSQL.
class Reader {
 public:
  Reader(std::string_view type, std::string_view text) : type_(type), text_(text) {}

  SqlError error() const { return invalid_text_of(type_, text_); }

  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool at_end() const { return at_ == text_.size(); }
  void advance() { ++at_; }
  void skip_blanks() {
    while (is_blank(peek())) advance();
  }
  bool take(char c) {
    if (peek() != c || at_end()) return false;
    advance();
    return true;
  }
  void expect(char c) {
    if (!take(c)) throw error();
  }
  void expect_end() const {
    if (!at_end()) throw error();
  }
  /// A closing bracket and the blanks behind it.
  void expect_closing(char c) {
    expect(c);
    skip_blanks();
  }

  /// A number with blanks around it.
  double number() {
    skip_blanks();
    const std::string rest(text_.substr(at_));
    char* end = nullptr;
    const double value = std::strtod(rest.c_str(), &end);
    const auto size = static_cast<std::size_t>(end - rest.c_str());
    const std::string_view token = std::string_view(rest).substr(0, size);
    if (size == 0 || token.find_first_of("xXpP(") != std::string_view::npos) throw error();
    const bool names_infinity = token.find_first_of("iI") != std::string_view::npos;
    const bool underflows = value == 0 && token.find_first_of("123456789") != std::string_view::npos;
    if ((std::isinf(value) && !names_infinity) || underflows) {
      throw SqlError(sqlstate::kNumericValueOutOfRange, fmt::format("\"{}\" is out of range for type double precision", token));
    }
    at_ += size;
    skip_blanks();
    return value;
  }

  /// (x,y) or x,y
  Point point() {
    skip_blanks();
    const bool has_parenthesis = take('(');
    Point point;
    point.x = number();
    expect(',');
    point.y = number();
    if (has_parenthesis) expect_closing(')');
    return point;
  }

  /// Reads points with at most one pair of brackets around them all. Returns true if the brackets were square.
  bool points(std::size_t count, bool may_be_open, std::vector<Point>& points) {
    skip_blanks();
    bool is_open = false;
    bool has_bracket = false;
    if (peek() == '[') {
      if (!may_be_open) throw error();
      is_open = has_bracket = true;
      advance();
    } else if (peek() == '(') {
      std::size_t next = at_ + 1;
      while (next < text_.size() && is_blank(text_[next])) ++next;
      const bool is_double = next < text_.size() && text_[next] == '(';
      if (is_double || text_.rfind('(') == at_) {
        has_bracket = true;
        at_ = next;
      }
    }
    for (std::size_t i = 0; i < count; ++i) {
      points.push_back(point());
      take(',');
    }
    if (has_bracket) {
      if (peek() != ')' && !(peek() == ']' && is_open)) throw error();
      advance();
      skip_blanks();
    }
    return is_open;
  }

  /// An odd number of commas is one less than twice the points.
  std::size_t count_points() const {
    const auto commas = static_cast<std::size_t>(std::ranges::count(text_, ','));
    if (commas % 2 == 0) throw error();
    return (commas + 1) / 2;
  }
  bool only_parenthesis_here() const { return peek() == '(' && text_.rfind('(') == at_; }
  bool two_parentheses_here() const {
    std::size_t next = at_ + 1;
    while (next < text_.size() && is_blank(text_[next])) ++next;
    return peek() == '(' && next < text_.size() && text_[next] == '(';
  }

 private:
  std::string_view type_, text_;
  std::size_t at_ = 0;
};

void append_number(double value, std::string& out, int digits) { append_float8(value, digits, out); }

void append_pair(const Point& point, std::string& out, int digits) {
  append_number(point.x, out, digits);
  out += ',';
  append_number(point.y, out, digits);
}

void append_points(const std::vector<Point>& points, std::string& out, int digits) {
  bool first = true;
  for (const Point& point : points) {
    if (!first) out += ',';
    append_geometry(point, out, digits);
    first = false;
  }
}

}  // namespace

bool nearly_equal(double a, double b) { return a == b || std::fabs(a - b) <= kTolerance; }
bool nearly_zero(double a) { return std::fabs(a) <= kTolerance; }

bool same_point(const Point& a, const Point& b) {
  const auto exactly = [](double x, double y) { return std::isnan(x) ? std::isnan(y) : x == y; };
  if (std::isnan(a.x) || std::isnan(a.y) || std::isnan(b.x) || std::isnan(b.y)) return exactly(a.x, b.x) && exactly(a.y, b.y);
  return nearly_equal(a.x, b.x) && nearly_equal(a.y, b.y);
}

double slope_between(const Point& a, const Point& b) {
  if (nearly_equal(a.x, b.x)) return kInfinity;
  if (nearly_equal(a.y, b.y)) return 0;
  return divide_floats(subtract_floats(a.y, b.y), subtract_floats(a.x, b.x));
}

Line line_through(const Point& point, double slope) {
  if (std::isinf(slope)) return {-1, 0, point.x};
  if (slope == 0) return {0, -1, point.y};
  Line line{slope, -1, subtract_floats(point.y, multiply_floats(slope, point.x))};
  if (line.c == 0) line.c = 0;  // not -0
  return line;
}

Box box_of_corners(Point a, Point b) {
  const auto greater = [](double x, double y) { return std::isnan(x) ? !std::isnan(y) : x > y; };
  if (greater(b.x, a.x)) std::swap(a.x, b.x);
  if (greater(b.y, a.y)) std::swap(a.y, b.y);
  return {a, b};
}

bool is_geometric_type(Oid type) {
  const TypeInfo* info = find_type(type);
  return info != nullptr && info->category == kGeometricCategory;
}

Point parse_point(std::string_view text) {
  Reader reader("point", text);
  const Point point = reader.point();
  reader.expect_end();
  return point;
}

Segment parse_segment(std::string_view text) {
  Reader reader("lseg", text);
  std::vector<Point> points;
  reader.points(2, true, points);
  reader.expect_end();
  return {points[0], points[1]};
}

Line parse_line(std::string_view text) {
  Reader reader("line", text);
  reader.skip_blanks();
  if (reader.take('{')) {
    Line line;
    line.a = reader.number();
    reader.expect(',');
    line.b = reader.number();
    reader.expect(',');
    line.c = reader.number();
    reader.expect_closing('}');
    reader.expect_end();
    if (nearly_zero(line.a) && nearly_zero(line.b)) {
      throw SqlError(sqlstate::kInvalidTextRepresentation, "invalid line specification: A and B cannot both be zero");
    }
    return line;
  }
  std::vector<Point> points;
  reader.points(2, true, points);
  reader.expect_end();
  if (same_point(points[0], points[1])) {
    throw SqlError(sqlstate::kInvalidTextRepresentation, "invalid line specification: must be two distinct points");
  }
  return line_through(points[0], slope_between(points[0], points[1]));
}

Box parse_box(std::string_view text) {
  Reader reader("box", text);
  std::vector<Point> points;
  reader.points(2, false, points);
  reader.expect_end();
  return box_of_corners(points[0], points[1]);
}

Path parse_path(std::string_view text) {
  Reader reader("path", text);
  const std::size_t count = reader.count_points();
  reader.skip_blanks();
  const bool in_parentheses = reader.only_parenthesis_here();
  if (in_parentheses) reader.advance();
  Path path;
  path.closed = !reader.points(count, true, path.points);
  if (in_parentheses) reader.expect_closing(')');
  reader.expect_end();
  return path;
}

Polygon parse_polygon(std::string_view text) {
  Reader reader("polygon", text);
  Polygon polygon;
  reader.points(reader.count_points(), false, polygon.points);
  reader.expect_end();
  return polygon;
}

Circle parse_circle(std::string_view text) {
  Reader reader("circle", text);
  reader.skip_blanks();
  const bool in_angles = reader.take('<');
  const bool in_parentheses = !in_angles && reader.two_parentheses_here();
  if (in_parentheses) reader.advance();
  Circle circle;
  circle.center = reader.point();
  reader.take(',');
  circle.radius = reader.number();
  if (circle.radius < 0) throw reader.error();
  if (in_angles && reader.peek() != ')') {
    reader.expect_closing('>');
  } else if (in_angles || in_parentheses) {
    reader.expect_closing(')');
  }
  reader.expect_end();
  return circle;
}

void append_geometry(const Point& value, std::string& out, int digits) {
  out += '(';
  append_pair(value, out, digits);
  out += ')';
}
void append_geometry(const Segment& value, std::string& out, int digits) {
  out += '[';
  append_points({value.begin, value.end}, out, digits);
  out += ']';
}
void append_geometry(const Line& value, std::string& out, int digits) {
  out += '{';
  append_number(value.a, out, digits);
  out += ',';
  append_number(value.b, out, digits);
  out += ',';
  append_number(value.c, out, digits);
  out += '}';
}
void append_geometry(const Box& value, std::string& out, int digits) { append_points({value.high, value.low}, out, digits); }
void append_geometry(const Path& value, std::string& out, int digits) {
  out += value.closed ? '(' : '[';
  append_points(value.points, out, digits);
  out += value.closed ? ')' : ']';
}
void append_geometry(const Polygon& value, std::string& out, int digits) {
  out += '(';
  append_points(value.points, out, digits);
  out += ')';
}
void append_geometry(const Circle& value, std::string& out, int digits) {
  out += '<';
  append_geometry(value.center, out, digits);
  out += ',';
  append_number(value.radius, out, digits);
  out += '>';
}

}  // namespace redquel::sql
