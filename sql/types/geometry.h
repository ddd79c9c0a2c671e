#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sql/types/type.h"

namespace redquel::sql {

namespace oid {
inline constexpr Oid kPoint = 600, kLseg = 601, kPath = 602, kBox = 603, kPolygon = 604, kLine = 628, kCircle = 718;
}

/// pg_type.typcategory of the geometric types.
inline constexpr TypeCategory kGeometricCategory{'G'};

// The geometric types (manual 8.8). Values lie in columns as the text that PostgreSQL prints.

struct Point {
  double x = 0, y = 0;
};
struct Segment {
  Point begin, end;
};
/// ax + by + c = 0.
struct Line {
  double a = 0, b = 0, c = 0;
};
struct Box {
  Point high, low;
};
struct Path {
  bool closed = false;
  std::vector<Point> points;
};
struct Polygon {
  std::vector<Point> points;
};
struct Circle {
  Point center;
  double radius = 0;
};

bool is_geometric_type(Oid type);

/// PostgreSQL's input functions. 22P02 `invalid input syntax for type point: "x"`, 22003.
Point parse_point(std::string_view text);
Segment parse_segment(std::string_view text);
Line parse_line(std::string_view text);
Box parse_box(std::string_view text);
Path parse_path(std::string_view text);
Polygon parse_polygon(std::string_view text);
Circle parse_circle(std::string_view text);

/// PostgreSQL's output functions; `digits` is extra_float_digits.
void append_geometry(const Point& value, std::string& out, int digits = 1);
void append_geometry(const Segment& value, std::string& out, int digits = 1);
void append_geometry(const Line& value, std::string& out, int digits = 1);
void append_geometry(const Box& value, std::string& out, int digits = 1);
void append_geometry(const Path& value, std::string& out, int digits = 1);
void append_geometry(const Polygon& value, std::string& out, int digits = 1);
void append_geometry(const Circle& value, std::string& out, int digits = 1);

/// A box by two opposite corners.
Box box_of_corners(Point a, Point b);

/// Equal up to PostgreSQL's tolerance of 1e-6; the other comparisons likewise.
bool nearly_equal(double a, double b);
bool nearly_zero(double a);
bool same_point(const Point& a, const Point& b);
/// The line through a point with a slope (infinite: vertical).
Line line_through(const Point& point, double slope);
double slope_between(const Point& a, const Point& b);

}  // namespace redquel::sql
