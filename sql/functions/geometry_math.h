#pragma once

#include <optional>

#include "sql/types/geometry.h"

namespace redquel::sql {

// Geometry as PostgreSQL 15 computes it (manual 9.11): comparisons have a tolerance of 1e-6, arithmetic is checked (22003, 22012).

bool nearly_less(double a, double b);
bool nearly_at_most(double a, double b);
/// The opposite of nearly_equal(), but false for NaN.
bool nearly_different(double a, double b);
inline bool nearly_greater(double a, double b) { return nearly_less(b, a); }
inline bool nearly_at_least(double a, double b) { return nearly_at_most(b, a); }

double distance(const Point& a, const Point& b);
Point add(const Point& a, const Point& b);
Point subtract(const Point& a, const Point& b);
/// Complex arithmetic: rotation and scaling about the origin.
Point multiply(const Point& a, const Point& b);
Point divide(const Point& a, const Point& b);
double length_of(const Point& vector);

double length(const Segment& segment);
double slope(const Segment& segment);
/// Returns the slope of the perpendicular.
double inverse_slope(const Segment& segment);
double slope(const Line& line);
bool contains(const Segment& segment, const Point& point);
bool contains(const Line& line, const Point& point);
bool contains(const Box& box, const Point& point);
bool contains(const Box& outer, const Box& inner);
bool contains(const Path& path, const Point& point);
bool contains(const Polygon& polygon, const Point& point);
bool contains(const Polygon& outer, const Polygon& inner);
bool overlap(const Box& a, const Box& b);
bool overlap(const Polygon& a, const Polygon& b);
bool equal(const Line& a, const Line& b);

std::optional<Point> intersection(const Line& a, const Line& b);
std::optional<Point> intersection(const Segment& segment, const Line& line);
std::optional<Point> intersection(const Segment& a, const Segment& b);
bool intersect(const Box& box, const Segment& segment);
bool intersect(const Box& box, const Line& line);
bool intersect(const Path& a, const Path& b);

/// A distance, and the point of the first argument that has it (of the box, for boxes).
struct Closest {
  Point point;
  double distance = 0;
};
Closest closest(const Line& line, const Point& to);
Closest closest(const Segment& segment, const Point& to);
Closest closest(const Segment& segment, const Line& to);
Closest closest(const Segment& segment, const Segment& to);
Closest closest(const Box& box, const Point& to);
Closest closest(const Box& box, const Segment& to);

double distance(const Box& box, const Segment& segment);
double distance(const Line& a, const Line& b);
double distance(const Path& path, const Point& point);
/// nullopt: one of them has no segments.
std::optional<double> distance(const Path& a, const Path& b);
double distance(const Polygon& polygon, const Point& point);
std::optional<double> distance(const Polygon& a, const Polygon& b);

double area(const Box& box);
double area(const Circle& circle);
Point center(const Box& box);
Point center(const Segment& segment);
Box bounds(const std::vector<Point>& points);
bool same(const Polygon& a, const Polygon& b);
/// The mean of the points, and their mean distance to it.
Circle circle_about(const Polygon& polygon);

}  // namespace redquel::sql
