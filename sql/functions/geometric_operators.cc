// Operators of the geometric types (manual 9.11, table "Geometric Operators").

#include <cmath>

#include "sql/functions/families.h"
#include "sql/functions/float_math.h"
#include "sql/functions/geometric_rows.h"
#include "sql/functions/geometry_math.h"

namespace redquel::sql {
namespace {

using P = const Point&;
using S = const Segment&;
using L = const Line&;
using B = const Box&;
using W = const Path&;  // a way
using G = const Polygon&;
using C = const Circle&;

using Table = std::vector<ScalarFunction>;

constexpr Type kP = kPointType, kS = kSegmentType, kL = kLineType, kB = kBoxType, kW = kPathType, kG = kPolygonType, kC = kCircleType;

double reach(double center, double radius) { return add_floats(center, radius); }
double back(double center, double radius) { return subtract_floats(center, radius); }
double not_negative(double value) { return value < 0 ? 0 : value; }
std::optional<Point> known(const Closest& found) { return std::isnan(found.distance) ? std::nullopt : std::optional(found.point); }

// ---- size and equality --------------------------------------------------------------------------------------------------

template <auto size, class Shape>
void add_sizes(Table& table, Type type) {
  table.push_back(geometric<[](Shape a, Shape b) { return nearly_less(size(a), size(b)); }>("<", {type, type}, kBool));
  table.push_back(geometric<[](Shape a, Shape b) { return nearly_at_most(size(a), size(b)); }>("<=", {type, type}, kBool));
  table.push_back(geometric<[](Shape a, Shape b) { return nearly_greater(size(a), size(b)); }>(">", {type, type}, kBool));
  table.push_back(geometric<[](Shape a, Shape b) { return nearly_at_least(size(a), size(b)); }>(">=", {type, type}, kBool));
}

bool same_segment(S a, S b) { return same_point(a.begin, b.begin) && same_point(a.end, b.end); }
bool same_box(B a, B b) { return same_point(a.high, b.high) && same_point(a.low, b.low); }
bool same_circle(C a, C b) {
  const bool alike = (std::isnan(a.radius) && std::isnan(b.radius)) || nearly_equal(a.radius, b.radius);
  return alike && same_point(a.center, b.center);
}
double count_of(W path) { return static_cast<double>(path.points.size()); }
double area_of_box(B box) { return area(box); }
double area_of_circle(C circle) { return area(circle); }
double length_of_segment(S segment) { return length(segment); }

void add_comparisons(Table& table) {
  add_sizes<area_of_box, B>(table, kB);
  add_sizes<area_of_circle, C>(table, kC);
  add_sizes<length_of_segment, S>(table, kS);
  table.push_back(geometric<[](B a, B b) { return nearly_equal(area(a), area(b)); }>("=", {kB, kB}, kBool));
  table.push_back(geometric<[](C a, C b) { return nearly_equal(area(a), area(b)); }>("=", {kC, kC}, kBool));
  table.push_back(geometric<[](C a, C b) { return !nearly_equal(area(a), area(b)); }>("<>", {kC, kC}, kBool));
  table.push_back(geometric<same_segment>("=", {kS, kS}, kBool));
  table.push_back(geometric<[](S a, S b) { return !same_segment(a, b); }>("<>", {kS, kS}, kBool));
  table.push_back(geometric<[](L a, L b) { return equal(a, b); }>("=", {kL, kL}, kBool));
  table.push_back(geometric<[](W a, W b) { return count_of(a) < count_of(b); }>("<", {kW, kW}, kBool));
  table.push_back(geometric<[](W a, W b) { return count_of(a) <= count_of(b); }>("<=", {kW, kW}, kBool));
  table.push_back(geometric<[](W a, W b) { return count_of(a) == count_of(b); }>("=", {kW, kW}, kBool));
  table.push_back(geometric<[](W a, W b) { return count_of(b) < count_of(a); }>(">", {kW, kW}, kBool));
  table.push_back(geometric<[](W a, W b) { return count_of(a) >= count_of(b); }>(">=", {kW, kW}, kBool));
  table.push_back(geometric<same_point>("~=", {kP, kP}, kBool));
  table.push_back(geometric<[](P a, P b) { return !same_point(a, b); }>("<>", {kP, kP}, kBool));
  table.push_back(geometric<same_box>("~=", {kB, kB}, kBool));
  table.push_back(geometric<same_circle>("~=", {kC, kC}, kBool));
  table.push_back(geometric<[](G a, G b) { return same(a, b); }>("~=", {kG, kG}, kBool));
}

// ---- position -----------------------------------------------------------------------------------------------------------

void add_positions(Table& table) {
  // Points.
  table.push_back(geometric<[](P a, P b) { return nearly_less(a.x, b.x); }>("<<", {kP, kP}, kBool));
  table.push_back(geometric<[](P a, P b) { return nearly_greater(a.x, b.x); }>(">>", {kP, kP}, kBool));
  for (const std::string_view name : {"<<|", "<^"}) {
    table.push_back(geometric<[](P a, P b) { return nearly_less(a.y, b.y); }>(name, {kP, kP}, kBool));
  }
  for (const std::string_view name : {"|>>", ">^"}) {
    table.push_back(geometric<[](P a, P b) { return nearly_greater(a.y, b.y); }>(name, {kP, kP}, kBool));
  }
  table.push_back(geometric<[](P a, P b) { return nearly_equal(a.x, b.x); }>("?|", {kP, kP}, kBool));
  table.push_back(geometric<[](P a, P b) { return nearly_equal(a.y, b.y); }>("?-", {kP, kP}, kBool));
  // Boxes, with the tolerance.
  table.push_back(geometric<[](B a, B b) { return nearly_less(a.high.x, b.low.x); }>("<<", {kB, kB}, kBool));
  table.push_back(geometric<[](B a, B b) { return nearly_greater(a.low.x, b.high.x); }>(">>", {kB, kB}, kBool));
  table.push_back(geometric<[](B a, B b) { return nearly_at_most(a.high.x, b.high.x); }>("&<", {kB, kB}, kBool));
  table.push_back(geometric<[](B a, B b) { return nearly_at_least(a.low.x, b.low.x); }>("&>", {kB, kB}, kBool));
  table.push_back(geometric<[](B a, B b) { return nearly_less(a.high.y, b.low.y); }>("<<|", {kB, kB}, kBool));
  table.push_back(geometric<[](B a, B b) { return nearly_greater(a.low.y, b.high.y); }>("|>>", {kB, kB}, kBool));
  table.push_back(geometric<[](B a, B b) { return nearly_at_most(a.high.y, b.high.y); }>("&<|", {kB, kB}, kBool));
  table.push_back(geometric<[](B a, B b) { return nearly_at_least(a.low.y, b.low.y); }>("|&>", {kB, kB}, kBool));
  table.push_back(geometric<[](B a, B b) { return nearly_at_most(a.high.y, b.low.y); }>("<^", {kB, kB}, kBool));
  table.push_back(geometric<[](B a, B b) { return nearly_at_least(a.low.y, b.high.y); }>(">^", {kB, kB}, kBool));
  // Circles.
  table.push_back(geometric<[](C a, C b) { return nearly_less(reach(a.center.x, a.radius), back(b.center.x, b.radius)); }>(
      "<<", {kC, kC}, kBool));
  table.push_back(geometric<[](C a, C b) { return nearly_greater(back(a.center.x, a.radius), reach(b.center.x, b.radius)); }>(
      ">>", {kC, kC}, kBool));
  table.push_back(geometric<[](C a, C b) { return nearly_at_most(reach(a.center.x, a.radius), reach(b.center.x, b.radius)); }>(
      "&<", {kC, kC}, kBool));
  table.push_back(geometric<[](C a, C b) { return nearly_at_least(back(a.center.x, a.radius), back(b.center.x, b.radius)); }>(
      "&>", {kC, kC}, kBool));
  table.push_back(geometric<[](C a, C b) { return nearly_less(reach(a.center.y, a.radius), back(b.center.y, b.radius)); }>(
      "<<|", {kC, kC}, kBool));
  table.push_back(geometric<[](C a, C b) { return nearly_greater(back(a.center.y, a.radius), reach(b.center.y, b.radius)); }>(
      "|>>", {kC, kC}, kBool));
  table.push_back(geometric<[](C a, C b) { return nearly_at_most(reach(a.center.y, a.radius), reach(b.center.y, b.radius)); }>(
      "&<|", {kC, kC}, kBool));
  table.push_back(geometric<[](C a, C b) { return nearly_at_least(back(a.center.y, a.radius), back(b.center.y, b.radius)); }>(
      "|&>", {kC, kC}, kBool));
  // Polygons, by their bounds and exactly.
  table.push_back(geometric<[](G a, G b) { return bounds(a.points).high.x < bounds(b.points).low.x; }>("<<", {kG, kG}, kBool));
  table.push_back(geometric<[](G a, G b) { return bounds(b.points).high.x < bounds(a.points).low.x; }>(">>", {kG, kG}, kBool));
  table.push_back(geometric<[](G a, G b) { return bounds(a.points).high.x <= bounds(b.points).high.x; }>("&<", {kG, kG}, kBool));
  table.push_back(geometric<[](G a, G b) { return bounds(a.points).low.x >= bounds(b.points).low.x; }>("&>", {kG, kG}, kBool));
  table.push_back(geometric<[](G a, G b) { return bounds(a.points).high.y < bounds(b.points).low.y; }>("<<|", {kG, kG}, kBool));
  table.push_back(geometric<[](G a, G b) { return bounds(b.points).high.y < bounds(a.points).low.y; }>("|>>", {kG, kG}, kBool));
  table.push_back(geometric<[](G a, G b) { return bounds(a.points).high.y <= bounds(b.points).high.y; }>("&<|", {kG, kG}, kBool));
  table.push_back(geometric<[](G a, G b) { return bounds(a.points).low.y >= bounds(b.points).low.y; }>("|&>", {kG, kG}, kBool));
}

// ---- containment, intersection ----------------------------------------------------------------------------------------------

template <class Outer, class Inner>
void add_containment(Table& table, Type outer, Type inner, bool both = true) {
  if (both) table.push_back(geometric<[](Outer a, Inner b) { return contains(a, b); }>("@>", {outer, inner}, kBool));
  table.push_back(geometric<[](Inner a, Outer b) { return contains(b, a); }>("<@", {inner, outer}, kBool));
}

bool circle_in(C outer, C inner) { return nearly_at_most(distance(outer.center, inner.center), subtract_floats(outer.radius, inner.radius)); }
bool point_in(C circle, P point) { return distance(circle.center, point) <= circle.radius; }
bool perpendicular(L a, L b) {
  if (nearly_zero(a.a)) return nearly_zero(b.b);
  if (nearly_zero(b.a)) return nearly_zero(a.b);
  if (nearly_zero(a.b)) return nearly_zero(b.a);
  if (nearly_zero(b.b)) return nearly_zero(a.a);
  return nearly_equal(divide_floats(multiply_floats(a.a, b.a), multiply_floats(a.b, b.b)), -1.0);
}

void add_relations(Table& table) {
  add_containment<B, P>(table, kB, kP);
  add_containment<B, B>(table, kB, kB);
  add_containment<W, P>(table, kW, kP);
  add_containment<G, P>(table, kG, kP);
  add_containment<G, G>(table, kG, kG);
  add_containment<L, P>(table, kL, kP, false);
  add_containment<S, P>(table, kS, kP, false);
  table.push_back(geometric<circle_in>("@>", {kC, kC}, kBool));
  table.push_back(geometric<[](C a, C b) { return circle_in(b, a); }>("<@", {kC, kC}, kBool));
  table.push_back(geometric<point_in>("@>", {kC, kP}, kBool));
  table.push_back(geometric<[](P a, C b) { return point_in(b, a); }>("<@", {kP, kC}, kBool));
  table.push_back(geometric<[](S a, L b) { return contains(b, a.begin) && contains(b, a.end); }>("<@", {kS, kL}, kBool));
  table.push_back(geometric<[](S a, B b) { return contains(b, a.begin) && contains(b, a.end); }>("<@", {kS, kB}, kBool));

  table.push_back(geometric<[](B a, B b) { return overlap(a, b); }>("&&", {kB, kB}, kBool));
  table.push_back(geometric<[](B a, B b) { return overlap(a, b); }>("?#", {kB, kB}, kBool));
  table.push_back(geometric<[](G a, G b) { return overlap(a, b); }>("&&", {kG, kG}, kBool));
  table.push_back(geometric<[](C a, C b) { return nearly_at_most(distance(a.center, b.center), add_floats(a.radius, b.radius)); }>(
      "&&", {kC, kC}, kBool));
  table.push_back(geometric<[](L a, L b) { return intersection(a, b).has_value(); }>("?#", {kL, kL}, kBool));
  table.push_back(geometric<[](S a, L b) { return intersection(a, b).has_value(); }>("?#", {kS, kL}, kBool));
  table.push_back(geometric<[](S a, S b) { return intersection(a, b).has_value(); }>("?#", {kS, kS}, kBool));
  table.push_back(geometric<[](S a, B b) { return intersect(b, a); }>("?#", {kS, kB}, kBool));
  table.push_back(geometric<[](L a, B b) { return intersect(b, a); }>("?#", {kL, kB}, kBool));
  table.push_back(geometric<[](W a, W b) { return intersect(a, b); }>("?#", {kW, kW}, kBool));

  const auto add_direction = [&](std::string_view sign, std::string_view word, std::vector<ScalarFunction> rows) {
    for (ScalarFunction& row : rows) {
      row.name = sign;
      table.push_back(row);
      row.name = word;
      table.push_back(row);
    }
  };
  add_direction("?-", "ishorizontal", {geometric<[](S s) { return nearly_equal(s.begin.y, s.end.y); }>("", {kS}, kBool),
                                       geometric<[](L l) { return nearly_zero(l.a); }>("", {kL}, kBool)});
  add_direction("?|", "isvertical", {geometric<[](S s) { return nearly_equal(s.begin.x, s.end.x); }>("", {kS}, kBool),
                                     geometric<[](L l) { return nearly_zero(l.b); }>("", {kL}, kBool)});
  add_direction("?-|", "isperp", {geometric<[](S a, S b) { return nearly_equal(slope(a), inverse_slope(b)); }>("", {kS, kS}, kBool),
                                  geometric<perpendicular>("", {kL, kL}, kBool)});
  add_direction("?||", "isparallel", {geometric<[](S a, S b) { return nearly_equal(slope(a), slope(b)); }>("", {kS, kS}, kBool),
                                      geometric<[](L a, L b) { return !intersection(a, b); }>("", {kL, kL}, kBool)});
  table.push_back(geometric<[](P a, P b) { return nearly_equal(a.y, b.y); }>("ishorizontal", {kP, kP}, kBool));
  table.push_back(geometric<[](P a, P b) { return nearly_equal(a.x, b.x); }>("isvertical", {kP, kP}, kBool));

  table.push_back(geometric<[](S a, S b) { return intersection(a, b); }>("#", {kS, kS}, kP));
  table.push_back(geometric<[](L a, L b) { return intersection(a, b); }>("#", {kL, kL}, kP));
  table.push_back(geometric<[](B a, B b) -> std::optional<Box> {
    if (!overlap(a, b)) return std::nullopt;
    return Box{{std::min(a.high.x, b.high.x), std::min(a.high.y, b.high.y)}, {std::max(a.low.x, b.low.x), std::max(a.low.y, b.low.y)}};
  }>("#", {kB, kB}, kB));
  table.push_back(geometric<[](W a) { return static_cast<std::int32_t>(a.points.size()); }>("#", {kW}, kInt4));
  table.push_back(geometric<[](G a) { return static_cast<std::int32_t>(a.points.size()); }>("#", {kG}, kInt4));
}

// ---- distance ---------------------------------------------------------------------------------------------------------------

template <auto body, class A, class B2>
void add_distance(Table& table, Type left, Type right) {
  table.push_back(geometric<body>("<->", {left, right}, kFloat8));
  table.push_back(geometric<[](B2 b, A a) { return body(a, b); }>("<->", {right, left}, kFloat8));
}

double gap(C circle, double distance_to_center) { return not_negative(subtract_floats(distance_to_center, circle.radius)); }

void add_distances(Table& table) {
  table.push_back(geometric<[](P a, P b) { return distance(a, b); }>("<->", {kP, kP}, kFloat8));
  table.push_back(geometric<[](B a, B b) { return distance(center(a), center(b)); }>("<->", {kB, kB}, kFloat8));
  table.push_back(geometric<[](W a, W b) { return distance(a, b); }>("<->", {kW, kW}, kFloat8));
  table.push_back(geometric<[](L a, L b) { return distance(a, b); }>("<->", {kL, kL}, kFloat8));
  table.push_back(geometric<[](S a, S b) { return closest(a, b).distance; }>("<->", {kS, kS}, kFloat8));
  table.push_back(geometric<[](G a, G b) { return distance(a, b); }>("<->", {kG, kG}, kFloat8));
  table.push_back(geometric<[](C a, C b) {
    return not_negative(subtract_floats(distance(a.center, b.center), add_floats(a.radius, b.radius)));
  }>("<->", {kC, kC}, kFloat8));
  add_distance<[](P a, L b) { return closest(b, a).distance; }, P, L>(table, kP, kL);
  add_distance<[](P a, S b) { return closest(b, a).distance; }, P, S>(table, kP, kS);
  add_distance<[](P a, B b) { return closest(b, a).distance; }, P, B>(table, kP, kB);
  add_distance<[](P a, W b) { return distance(b, a); }, P, W>(table, kP, kW);
  add_distance<[](P a, G b) { return distance(b, a); }, P, G>(table, kP, kG);
  add_distance<[](P a, C b) { return gap(b, distance(a, b.center)); }, P, C>(table, kP, kC);
  add_distance<[](G a, C b) { return gap(b, distance(a, b.center)); }, G, C>(table, kG, kC);
  add_distance<[](S a, L b) { return closest(a, b).distance; }, S, L>(table, kS, kL);
  add_distance<[](S a, B b) { return closest(b, a).distance; }, S, B>(table, kS, kB);

  table.push_back(geometric<[](P a, L b) { return known(closest(b, a)); }>("##", {kP, kL}, kP));
  table.push_back(geometric<[](P a, S b) { return known(closest(b, a)); }>("##", {kP, kS}, kP));
  table.push_back(geometric<[](P a, B b) { return known(closest(b, a)); }>("##", {kP, kB}, kP));
  table.push_back(geometric<[](S a, B b) { return known(closest(b, a)); }>("##", {kS, kB}, kP));
  table.push_back(geometric<[](L a, S b) { return slope(b) == slope(a) ? std::nullopt : known(closest(b, a)); }>("##", {kL, kS}, kP));
  table.push_back(geometric<[](S a, S b) { return slope(a) == slope(b) ? std::nullopt : known(closest(b, a)); }>("##", {kS, kS}, kP));
}

// ---- moving, turning, centers ---------------------------------------------------------------------------------------------------

template <auto move>
Path moved(W path, P by) {
  Path result = path;
  for (Point& point : result.points) point = move(point, by);
  return result;
}
template <auto move>
void add_motion(Table& table, std::string_view name, bool turns) {
  table.push_back(geometric<[](P a, P b) { return move(a, b); }>(name, {kP, kP}, kP));
  table.push_back(geometric<moved<move>>(name, {kW, kP}, kW));
  if (turns) {
    // Of two zeros the later one is the higher one, as in box(point, point).
    table.push_back(
        geometric<[](B a, P b) { return box_of_corners(move(a.low, b), move(a.high, b)); }>(name, {kB, kP}, kB));
  } else {
    table.push_back(geometric<[](B a, P b) { return Box{move(a.high, b), move(a.low, b)}; }>(name, {kB, kP}, kB));
    table.push_back(geometric<[](C a, P b) { return Circle{move(a.center, b), a.radius}; }>(name, {kC, kP}, kC));
  }
}

void add_motions(Table& table) {
  add_motion<add>(table, "+", false);
  add_motion<subtract>(table, "-", false);
  add_motion<multiply>(table, "*", true);
  add_motion<divide>(table, "/", true);
  table.push_back(geometric<[](C a, P b) {
    return Circle{multiply(a.center, b), multiply_floats(a.radius, length_of(b))};
  }>("*", {kC, kP}, kC));
  table.push_back(geometric<[](C a, P b) {
    return Circle{divide(a.center, b), divide_floats(a.radius, length_of(b))};
  }>("/", {kC, kP}, kC));
  table.push_back(geometric<[](W a, W b) -> std::optional<Path> {
    if (a.closed || b.closed) return std::nullopt;
    Path joined = a;
    joined.points.insert(joined.points.end(), b.points.begin(), b.points.end());
    return joined;
  }>("+", {kW, kW}, kW));
  table.push_back(geometric<[](B a) { return center(a); }>("@@", {kB}, kP));
  table.push_back(geometric<[](S a) { return center(a); }>("@@", {kS}, kP));
  table.push_back(geometric<[](G a) { return circle_about(a).center; }>("@@", {kG}, kP));
  table.push_back(geometric<[](C a) { return a.center; }>("@@", {kC}, kP));
  table.push_back(geometric<length_of_segment>("@-@", {kS}, kFloat8));
}

}  // namespace

std::vector<ScalarFunction> geometric_operators() {
  Table table;
  add_comparisons(table);
  add_positions(table);
  add_relations(table);
  add_distances(table);
  add_motions(table);
  for (const ScalarFunction& function : geometric_functions()) {
    if (function.name != "path_length") continue;
    table.push_back(function);
    table.back().name = "@-@";
  }
  return table;
}

}  // namespace redquel::sql
