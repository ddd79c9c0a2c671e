// Functions and casts of the geometric types (manual 9.11, tables "Geometric Functions" and "Geometric Type Conversion Functions").

#include <cmath>

#include "sql/error.h"
#include "sql/functions/families.h"
#include "sql/functions/float_math.h"
#include "sql/functions/geometric_rows.h"
#include "sql/functions/geometry_math.h"
#include "sql/sqlstate.h"

namespace redquel::sql {
namespace {

using Int = std::int32_t;

double path_length(const Path& path) {
  double total = 0;
  for (std::size_t i = 0; i < path.points.size(); ++i) {
    if (i == 0 && !path.closed) continue;
    const Point& previous = i == 0 ? path.points.back() : path.points[i - 1];
    total = add_floats(total, distance(previous, path.points[i]));
  }
  return total;
}

std::optional<double> path_area(const Path& path) {
  if (!path.closed) return std::nullopt;
  double doubled = 0;
  for (std::size_t i = 0; i < path.points.size(); ++i) {
    const Point &a = path.points[i], &b = path.points[(i + 1) % path.points.size()];
    doubled = add_floats(doubled, multiply_floats(a.x, b.y));
    doubled = subtract_floats(doubled, multiply_floats(a.y, b.x));
  }
  return std::fabs(doubled) / 2;
}

Line line_of(const Point& a, const Point& b) {
  if (same_point(a, b)) throw SqlError(sqlstate::kInvalidParameterValue, "invalid line specification: must be two distinct points");
  return line_through(a, slope_between(a, b));
}

Box box_about(const Box& a, const Box& b) { return bounds({a.high, a.low, b.high, b.low}); }
Box box_in_circle(const Circle& circle) {
  const double half = divide_floats(circle.radius, std::sqrt(2.0));
  const Point& c = circle.center;
  return {{add_floats(c.x, half), add_floats(c.y, half)}, {subtract_floats(c.x, half), subtract_floats(c.y, half)}};
}
Circle circle_about_box(const Box& box) { return {center(box), distance(center(box), box.high)}; }
Segment diagonal(const Box& box) { return {box.high, box.low}; }
Box box_at(const Point& point) { return {point, point}; }
Box box_of_polygon(const Polygon& polygon) { return bounds(polygon.points); }
Point center_of_polygon(const Polygon& polygon) { return circle_about(polygon).center; }
Point center_of_circle(const Circle& circle) { return circle.center; }
Path closed_path(const Polygon& polygon) { return {true, polygon.points}; }
Polygon polygon_of_path(const Path& path) {
  if (!path.closed) throw SqlError(sqlstate::kInvalidParameterValue, "open path cannot be converted to polygon");
  return {path.points};
}
Polygon polygon_of_box(const Box& box) { return {{box.low, {box.low.x, box.high.y}, box.high, {box.high.x, box.low.y}}}; }
Polygon polygon_about(Int count, const Circle& circle) {
  if (nearly_zero(circle.radius)) throw SqlError(sqlstate::kFeatureNotSupported, "cannot convert circle with radius zero to polygon");
  if (count < 2) throw SqlError(sqlstate::kInvalidParameterValue, "must request at least 2 points");
  constexpr Int kMostPoints = 60'000'000;  // PostgreSQL: what fits into one gigabyte
  if (count > kMostPoints) throw SqlError(sqlstate::kProgramLimitExceeded, "too many points requested");
  Polygon polygon;
  const double step = 2.0 * M_PI / count;
  for (Int i = 0; i < count; ++i) {
    const double angle = step * i;
    polygon.points.push_back({subtract_floats(circle.center.x, multiply_floats(circle.radius, std::cos(angle))),
                              add_floats(circle.center.y, multiply_floats(circle.radius, std::sin(angle)))});
  }
  return polygon;
}
Polygon polygon_of_circle(const Circle& circle) { return polygon_about(12, circle); }
Path with_ends(const Path& path, bool closed) { return {closed, path.points}; }

double segment_length(const Segment& segment) { return length(segment); }
double box_area(const Box& box) { return area(box); }
double circle_area(const Circle& circle) { return area(circle); }
Point box_center(const Box& box) { return center(box); }
Point segment_center(const Segment& segment) { return center(segment); }

constexpr CastContext kExplicit = CastContext::kExplicit, kAssignment = CastContext::kAssignment;

}  // namespace

std::vector<ScalarFunction> geometric_functions() {
  const Type point = kPointType, segment = kSegmentType, path = kPathType, box = kBoxType, polygon = kPolygonType, line = kLineType,
             circle = kCircleType;
  std::vector<ScalarFunction> table = {
      geometric<box_area>("area", {box}, kFloat8),
      geometric<path_area>("area", {path}, kFloat8),
      geometric<circle_area>("area", {circle}, kFloat8),
      geometric<box_center>("center", {box}, point),
      geometric<center_of_circle>("center", {circle}, point),
      geometric<diagonal>("diagonal", {box}, segment),
      geometric<[](const Circle& c) { return multiply_floats(c.radius, 2.0); }>("diameter", {circle}, kFloat8),
      geometric<[](const Circle& c) { return c.radius; }>("radius", {circle}, kFloat8),
      geometric<[](const Box& b) { return subtract_floats(b.high.y, b.low.y); }>("height", {box}, kFloat8),
      geometric<[](const Box& b) { return subtract_floats(b.high.x, b.low.x); }>("width", {box}, kFloat8),
      geometric<[](const Path& p) { return p.closed; }>("isclosed", {path}, kBool),
      geometric<[](const Path& p) { return !p.closed; }>("isopen", {path}, kBool),
      geometric<[](const Path& p) { return with_ends(p, true); }>("pclose", {path}, path),
      geometric<[](const Path& p) { return with_ends(p, false); }>("popen", {path}, path),
      geometric<segment_length>("length", {segment}, kFloat8),
      geometric<path_length>("length", {path}, kFloat8),
      geometric<path_length>("path_length", {path}, kFloat8),
      geometric<[](const Path& p) { return static_cast<Int>(p.points.size()); }>("npoints", {path}, kInt4),
      geometric<[](const Polygon& p) { return static_cast<Int>(p.points.size()); }>("npoints", {polygon}, kInt4),
      geometric<slope_between>("slope", {point, point}, kFloat8),
      geometric<box_about>("bound_box", {box, box}, box),
      geometric<box_in_circle>("box", {circle}, box),
      geometric<box_at>("box", {point}, box),
      geometric<[](const Point& a, const Point& b) { return box_of_corners(b, a); }>("box", {point, point}, box),
      geometric<box_of_polygon>("box", {polygon}, box),
      geometric<circle_about_box>("circle", {box}, circle),
      geometric<[](const Point& p, double radius) { return Circle{p, radius}; }>("circle", {point, kFloat8}, circle),
      geometric<[](const Polygon& p) { return circle_about(p); }>("circle", {polygon}, circle),
      geometric<line_of>("line", {point, point}, line),
      geometric<diagonal>("lseg", {box}, segment),
      geometric<[](const Point& a, const Point& b) { return Segment{a, b}; }>("lseg", {point, point}, segment),
      geometric<closed_path>("path", {polygon}, path),
      geometric<[](double x, double y) { return Point{x, y}; }>("point", {kFloat8, kFloat8}, point),
      geometric<box_center>("point", {box}, point),
      geometric<center_of_circle>("point", {circle}, point),
      geometric<segment_center>("point", {segment}, point),
      geometric<center_of_polygon>("point", {polygon}, point),
      geometric<polygon_of_box>("polygon", {box}, polygon),
      geometric<polygon_of_circle>("polygon", {circle}, polygon),
      geometric<polygon_about>("polygon", {kInt4, circle}, polygon),
      geometric<polygon_of_path>("polygon", {path}, polygon),
  };
  return table;
}

std::vector<CastFunction> geometric_casts() {
  return {
      geometric_cast<box_at>(kPointType, kBoxType, kAssignment),
      geometric_cast<segment_center>(kSegmentType, kPointType, kExplicit),
      geometric_cast<polygon_of_path>(kPathType, kPolygonType, kAssignment),
      geometric_cast<box_center>(kBoxType, kPointType, kExplicit),
      geometric_cast<diagonal>(kBoxType, kSegmentType, kExplicit),
      geometric_cast<polygon_of_box>(kBoxType, kPolygonType, kAssignment),
      geometric_cast<circle_about_box>(kBoxType, kCircleType, kExplicit),
      geometric_cast<center_of_polygon>(kPolygonType, kPointType, kExplicit),
      geometric_cast<closed_path>(kPolygonType, kPathType, kAssignment),
      geometric_cast<box_of_polygon>(kPolygonType, kBoxType, kExplicit),
      geometric_cast<[](const Polygon& p) { return circle_about(p); }>(kPolygonType, kCircleType, kExplicit),
      geometric_cast<center_of_circle>(kCircleType, kPointType, kExplicit),
      geometric_cast<box_in_circle>(kCircleType, kBoxType, kExplicit),
      geometric_cast<polygon_of_circle>(kCircleType, kPolygonType, kExplicit),
  };
}

}  // namespace redquel::sql
