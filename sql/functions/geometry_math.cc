#include "sql/functions/geometry_math.h"

#include <array>
#include <cmath>
#include <limits>

#include "sql/functions/float_math.h"

namespace redquel::sql {
namespace {

constexpr double kTolerance = 1.0e-06;

double plus(double a, double b) { return add_floats(a, b); }
double minus(double a, double b) { return subtract_floats(a, b); }
double times(double a, double b) { return multiply_floats(a, b); }
double over(double a, double b) { return divide_floats(a, b); }

/// NaN is above everything.
bool less(double a, double b) { return !std::isnan(a) && (std::isnan(b) || a < b); }

double hypotenuse(double x, double y) {
  if (std::isinf(x) || std::isinf(y)) return kInfinity;
  if (std::isnan(x) || std::isnan(y)) return std::numeric_limits<double>::quiet_NaN();
  x = std::fabs(x);
  y = std::fabs(y);
  if (x < y) std::swap(x, y);
  if (y == 0) return x;
  const double ratio = y / x;
  const double result = x * std::sqrt(1.0 + ratio * ratio);
  if (std::isinf(result)) throw_float_overflow();
  if (result == 0) throw_float_underflow();
  return result;
}

/// The sides of a box, in the order in which PostgreSQL looks at them.
std::array<Segment, 4> sides(const Box& box) {
  const Point upper_left{box.low.x, box.high.y}, lower_right{box.high.x, box.low.y};
  return {Segment{box.low, upper_left}, Segment{box.high, upper_left}, Segment{box.low, lower_right}, Segment{box.high, lower_right}};
}

/// The segments of a path; the one that closes it comes first.
std::vector<Segment> segments(const Path& path) {
  std::vector<Segment> result;
  const std::vector<Point>& points = path.points;
  if (path.closed && !points.empty()) result.push_back({points.back(), points.front()});
  for (std::size_t i = 1; i < points.size(); ++i) result.push_back({points[i - 1], points[i]});
  return result;
}
std::vector<Segment> segments(const Polygon& polygon) { return segments(Path{true, polygon.points}); }

constexpr int kOnPolygon = std::numeric_limits<int>::max();

/// Returns how often (in halves) the segment from the previous to this point, both relative to a point, crosses the positive x axis.
int crossing(const Point& point, const Point& previous) {
  const auto [x, y] = point;
  if (nearly_zero(y)) {
    if (nearly_zero(x)) return kOnPolygon;
    if (nearly_greater(x, 0)) {
      if (nearly_zero(previous.y)) return nearly_greater(previous.x, 0) ? 0 : kOnPolygon;
      return nearly_less(previous.y, 0) ? 1 : -1;
    }
    if (nearly_zero(previous.y)) return nearly_less(previous.x, 0) ? 0 : kOnPolygon;
    return 0;
  }
  const int sign = nearly_greater(y, 0) ? 1 : -1;
  if (nearly_zero(previous.y)) return nearly_less(previous.x, 0) ? 0 : sign;
  if ((sign < 0 && nearly_less(previous.y, 0)) || (sign > 0 && nearly_greater(previous.y, 0))) return 0;
  if (nearly_at_least(x, 0) && nearly_greater(previous.x, 0)) return 2 * sign;
  if (nearly_less(x, 0) && nearly_at_most(previous.x, 0)) return 0;
  const double z = minus(times(minus(x, previous.x), y), times(minus(y, previous.y), x));
  if (nearly_zero(z)) return kOnPolygon;
  if ((sign < 0 && nearly_less(z, 0)) || (sign > 0 && nearly_greater(z, 0))) return 0;
  return 2 * sign;
}

bool is_inside(const Point& point, const std::vector<Point>& polygon) {
  if (polygon.empty()) return false;
  const Point first = subtract(polygon[0], point);
  Point previous = first;
  int total = 0;
  for (std::size_t i = 1; i <= polygon.size(); ++i) {
    const Point next = i == polygon.size() ? first : subtract(polygon[i], point);
    const int crossed = crossing(next, previous);
    if (crossed == kOnPolygon) return true;
    total += crossed;
    previous = next;
  }
  return total != 0;
}

bool segment_inside(const Point& a, const Point& b, const std::vector<Point>& polygon, std::size_t start);

/// `a` lies on `edge`, `b` does not.
bool touching_segment_inside(const Point& a, const Point& b, const Segment& edge, const std::vector<Point>& polygon, std::size_t start) {
  const Segment segment{a, b};
  if (same_point(a, edge.begin)) {
    return !contains(segment, edge.end) || segment_inside(b, edge.end, polygon, start);
  }
  if (same_point(a, edge.end)) {
    return !contains(segment, edge.begin) || segment_inside(b, edge.begin, polygon, start);
  }
  if (contains(segment, edge.begin)) return segment_inside(b, edge.begin, polygon, start);
  if (contains(segment, edge.end)) return segment_inside(b, edge.end, polygon, start);
  return true;
}

bool segment_inside(const Point& a, const Point& b, const std::vector<Point>& polygon, std::size_t start) {
  const Segment segment{a, b};
  Segment edge{polygon[start == 0 ? polygon.size() - 1 : start - 1], {}};
  bool inside = true, crosses = false;
  for (std::size_t i = start; i < polygon.size() && inside; ++i) {
    edge.end = polygon[i];
    if (contains(edge, a)) {
      if (contains(edge, b)) return true;
      inside = touching_segment_inside(a, b, edge, polygon, i + 1);
    } else if (contains(edge, b)) {
      inside = touching_segment_inside(b, a, edge, polygon, i + 1);
    } else if (const std::optional<Point> at = intersection(segment, edge)) {
      crosses = true;
      inside = segment_inside(a, *at, polygon, i + 1) && segment_inside(b, *at, polygon, i + 1);
    }
    edge.begin = edge.end;
  }
  if (inside && !crosses) return is_inside(center(segment), polygon);
  return inside;
}

template <class Shape>
std::optional<double> least_distance(const Shape& a, const Shape& b) {
  std::optional<double> least;
  for (const Segment& one : segments(a)) {
    for (const Segment& other : segments(b)) {
      const double found = closest(one, other).distance;
      if (!least || less(found, *least)) least = found;
    }
  }
  return least;
}

}  // namespace

bool nearly_less(double a, double b) { return a + kTolerance < b; }
bool nearly_at_most(double a, double b) { return a <= b + kTolerance; }

double distance(const Point& a, const Point& b) { return hypotenuse(minus(a.x, b.x), minus(a.y, b.y)); }
double length_of(const Point& vector) { return hypotenuse(vector.x, vector.y); }
Point add(const Point& a, const Point& b) { return {plus(a.x, b.x), plus(a.y, b.y)}; }
Point subtract(const Point& a, const Point& b) { return {minus(a.x, b.x), minus(a.y, b.y)}; }
Point multiply(const Point& a, const Point& b) {
  return {minus(times(a.x, b.x), times(a.y, b.y)), plus(times(a.x, b.y), times(a.y, b.x))};
}
Point divide(const Point& a, const Point& b) {
  const double divisor = plus(times(b.x, b.x), times(b.y, b.y));
  return {over(plus(times(a.x, b.x), times(a.y, b.y)), divisor), over(minus(times(a.y, b.x), times(a.x, b.y)), divisor)};
}

double length(const Segment& segment) { return distance(segment.begin, segment.end); }
double slope(const Segment& segment) { return slope_between(segment.begin, segment.end); }
double inverse_slope(const Segment& segment) {
  const auto& [a, b] = segment;
  if (nearly_equal(a.x, b.x)) return 0;
  if (nearly_equal(a.y, b.y)) return kInfinity;
  return over(minus(a.x, b.x), minus(b.y, a.y));
}
double slope(const Line& line) {
  if (nearly_zero(line.a)) return 0;
  if (nearly_zero(line.b)) return kInfinity;
  return over(line.a, -line.b);
}

bool contains(const Segment& segment, const Point& point) {
  return nearly_equal(plus(distance(point, segment.begin), distance(point, segment.end)), length(segment));
}
bool contains(const Line& line, const Point& point) {
  return nearly_zero(plus(plus(times(line.a, point.x), times(line.b, point.y)), line.c));
}
bool contains(const Box& box, const Point& point) {
  return box.high.x >= point.x && box.low.x <= point.x && box.high.y >= point.y && box.low.y <= point.y;
}
bool contains(const Box& outer, const Box& inner) {
  return nearly_at_least(outer.high.x, inner.high.x) && nearly_at_most(outer.low.x, inner.low.x) &&
         nearly_at_least(outer.high.y, inner.high.y) && nearly_at_most(outer.low.y, inner.low.y);
}
bool contains(const Path& path, const Point& point) {
  if (path.closed) return is_inside(point, path.points);
  for (const Segment& segment : segments(path)) {
    // PostgreSQL checks this sum for overflow, unlike that of a segment alone.
    const double sum = plus(distance(point, segment.begin), distance(point, segment.end));
    if (nearly_equal(sum, length(segment))) return true;
  }
  return false;
}
bool contains(const Polygon& polygon, const Point& point) { return is_inside(point, polygon.points); }
bool contains(const Polygon& outer, const Polygon& inner) {
  if (!contains(bounds(outer.points), bounds(inner.points))) return false;
  for (const Segment& segment : segments(inner)) {
    if (!segment_inside(segment.begin, segment.end, outer.points, 0)) return false;
  }
  return true;
}

bool overlap(const Box& a, const Box& b) {
  return nearly_at_most(a.low.x, b.high.x) && nearly_at_most(b.low.x, a.high.x) && nearly_at_most(a.low.y, b.high.y) &&
         nearly_at_most(b.low.y, a.high.y);
}
bool overlap(const Polygon& a, const Polygon& b) {
  if (!overlap(bounds(a.points), bounds(b.points))) return false;
  for (const Segment& one : segments(a)) {
    for (const Segment& other : segments(b)) {
      if (intersection(one, other)) return true;
    }
  }
  return is_inside(a.points[0], b.points) || is_inside(b.points[0], a.points);
}

bool equal(const Line& a, const Line& b) {
  const auto exactly = [](double x, double y) { return std::isnan(x) ? std::isnan(y) : x == y; };
  for (const double number : {a.a, a.b, a.c, b.a, b.b, b.c}) {
    if (std::isnan(number)) return exactly(a.a, b.a) && exactly(a.b, b.b) && exactly(a.c, b.c);
  }
  double ratio = 1;
  if (!nearly_zero(b.a)) {
    ratio = over(a.a, b.a);
  } else if (!nearly_zero(b.b)) {
    ratio = over(a.b, b.b);
  } else if (!nearly_zero(b.c)) {
    ratio = over(a.c, b.c);
  }
  return nearly_equal(a.a, times(ratio, b.a)) && nearly_equal(a.b, times(ratio, b.b)) && nearly_equal(a.c, times(ratio, b.c));
}

std::optional<Point> intersection(const Line& a, const Line& b) {
  // `first` is the one that is solved for y.
  const bool swapped = nearly_zero(a.b);
  const Line &first = swapped ? b : a, &second = swapped ? a : b;
  if (nearly_zero(first.b)) return std::nullopt;
  if (nearly_equal(second.a, times(first.a, over(second.b, first.b)))) return std::nullopt;
  Point point;
  point.x = over(minus(times(first.b, second.c), times(second.b, first.c)), minus(times(first.a, second.b), times(second.a, first.b)));
  point.y = over(-plus(times(first.a, point.x), first.c), first.b);
  if (point.x == 0) point.x = 0;  // not -0
  if (point.y == 0) point.y = 0;
  return point;
}
std::optional<Point> intersection(const Segment& segment, const Line& line) {
  const std::optional<Point> point = intersection(line_through(segment.begin, slope(segment)), line);
  if (!point || !contains(segment, *point)) return std::nullopt;
  if (same_point(segment.begin, *point)) return segment.begin;
  if (same_point(segment.end, *point)) return segment.end;
  return point;
}
std::optional<Point> intersection(const Segment& a, const Segment& b) {
  const std::optional<Point> point = intersection(a, line_through(b.begin, slope(b)));
  return point && contains(b, *point) ? point : std::nullopt;
}

bool intersect(const Box& box, const Segment& segment) {
  if (!overlap(box_of_corners(segment.begin, segment.end), box)) return false;
  if (contains(box, segment.begin) || contains(box, segment.end)) return true;
  for (const Segment& side : sides(box)) {
    if (intersection(side, segment)) return true;
  }
  return false;
}
bool intersect(const Box& box, const Line& line) {
  for (const Segment& side : sides(box)) {
    if (intersection(side, line)) return true;
  }
  return false;
}
bool intersect(const Path& a, const Path& b) {
  if (!overlap(bounds(a.points), bounds(b.points))) return false;
  for (const Segment& one : segments(a)) {
    for (const Segment& other : segments(b)) {
      if (intersection(one, other)) return true;
    }
  }
  return false;
}

Closest closest(const Line& line, const Point& to) {
  const double perpendicular = nearly_zero(line.a) ? kInfinity : nearly_zero(line.b) ? 0 : over(line.b, line.a);
  const std::optional<Point> point = intersection(line_through(to, perpendicular), line);
  if (!point) return {to, std::numeric_limits<double>::quiet_NaN()};
  return {*point, distance(*point, to)};
}
Closest closest(const Segment& segment, const Line& to) {
  if (const std::optional<Point> point = intersection(segment, to)) return {*point, 0};
  const double begin = closest(to, segment.begin).distance, end = closest(to, segment.end).distance;
  return begin < end ? Closest{segment.begin, begin} : Closest{segment.end, end};
}
Closest closest(const Segment& segment, const Point& to) {
  const Point point = closest(segment, line_through(to, inverse_slope(segment))).point;
  return {point, distance(point, to)};
}
Closest closest(const Segment& segment, const Segment& to) {
  if (const std::optional<Point> point = intersection(segment, to)) return {*point, 0};
  Closest best = closest(segment, to.begin);
  const Closest other = closest(segment, to.end);
  if (less(other.distance, best.distance)) best = other;
  for (const Point& end : {segment.begin, segment.end}) {
    const double found = closest(to, end).distance;
    if (less(found, best.distance)) best = {end, found};
  }
  return best;
}
template <class To>
Closest closest_side(const Box& box, const To& to) {
  std::optional<Closest> best;
  for (const Segment& side : sides(box)) {
    const Closest found = closest(side, to);
    if (!best || less(found.distance, best->distance)) best = found;
  }
  return *best;
}
Closest closest(const Box& box, const Point& to) {
  if (contains(box, to)) return {to, 0};
  return closest_side(box, to);
}
Closest closest(const Box& box, const Segment& to) {
  if (intersect(box, to)) return {closest(to, center(box)).point, 0};
  return closest_side(box, to);
}

double distance(const Line& a, const Line& b) {
  if (intersection(a, b)) return 0;
  const auto counts = [](double x, double y) { return !nearly_zero(x) && !std::isnan(x) && !nearly_zero(y) && !std::isnan(y); };
  const double ratio = counts(a.a, b.a) ? over(a.a, b.a) : counts(a.b, b.b) ? over(a.b, b.b) : 1;
  return over(std::fabs(minus(a.c, times(ratio, b.c))), hypotenuse(a.a, a.b));
}
double distance(const Path& path, const Point& point) {
  std::optional<double> least;
  for (const Segment& segment : segments(path)) {
    const double found = closest(segment, point).distance;
    if (!least || less(found, *least)) least = found;
  }
  return least.value_or(0);
}
std::optional<double> distance(const Path& a, const Path& b) { return least_distance(a, b); }
double distance(const Polygon& polygon, const Point& point) {
  if (contains(polygon, point)) return 0;
  return distance(Path{true, polygon.points}, point);
}
std::optional<double> distance(const Polygon& a, const Polygon& b) {
  if (overlap(a, b)) return 0;
  return least_distance(a, b);
}

double area(const Box& box) { return times(minus(box.high.x, box.low.x), minus(box.high.y, box.low.y)); }
double area(const Circle& circle) { return times(times(circle.radius, circle.radius), M_PI); }
Point center(const Box& box) { return {over(plus(box.high.x, box.low.x), 2), over(plus(box.high.y, box.low.y), 2)}; }
Point center(const Segment& segment) {
  return {over(plus(segment.begin.x, segment.end.x), 2), over(plus(segment.begin.y, segment.end.y), 2)};
}
Box bounds(const std::vector<Point>& points) {
  Box box{points[0], points[0]};
  for (const Point& point : points) {
    if (less(point.x, box.low.x)) box.low.x = point.x;
    if (less(box.high.x, point.x)) box.high.x = point.x;
    if (less(point.y, box.low.y)) box.low.y = point.y;
    if (less(box.high.y, point.y)) box.high.y = point.y;
  }
  return box;
}

bool same(const Polygon& a, const Polygon& b) {
  const std::size_t count = a.points.size();
  if (b.points.size() != count) return false;
  for (std::size_t start = 0; start < count; ++start) {
    if (!same_point(b.points[start], a.points[0])) continue;
    bool forwards = true, backwards = true;
    for (std::size_t i = 1; i < count; ++i) {
      forwards = forwards && same_point(b.points[(start + i) % count], a.points[i]);
      backwards = backwards && same_point(b.points[(start + count - i) % count], a.points[i]);
    }
    if (forwards || backwards) return true;
  }
  return false;
}

Circle circle_about(const Polygon& polygon) {
  const auto count = static_cast<double>(polygon.points.size());
  Circle circle;
  for (const Point& point : polygon.points) circle.center = add(circle.center, point);
  circle.center = {over(circle.center.x, count), over(circle.center.y, count)};
  for (const Point& point : polygon.points) circle.radius = plus(circle.radius, distance(point, circle.center));
  circle.radius = over(circle.radius, count);
  return circle;
}

}  // namespace redquel::sql
