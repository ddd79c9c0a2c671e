#include "sql/functions/geometric_subscript.h"

#include <algorithm>

#include "sql/error.h"
#include "sql/functions/geometric_rows.h"
#include "sql/value_errors.h"

namespace redquel::sql {
namespace {

using Int = std::int32_t;

std::optional<double> part_of_point(const Point& point, Int i) {
  if (i < 0 || i > 1) return std::nullopt;
  return i == 0 ? point.x : point.y;
}
std::optional<double> part_of_line(const Line& line, Int i) {
  if (i < 0 || i > 2) return std::nullopt;
  return i == 0 ? line.a : i == 1 ? line.b : line.c;
}
std::optional<Point> part_of_segment(const Segment& segment, Int i) {
  if (i < 0 || i > 1) return std::nullopt;
  return i == 0 ? segment.begin : segment.end;
}
std::optional<Point> part_of_box(const Box& box, Int i) {
  if (i < 0 || i > 1) return std::nullopt;
  return i == 0 ? box.high : box.low;
}

void check_place(Int i, Int last) {
  if (i < 0 || i > last) throw subscript_out_of_range();
}

Point point_with(const Point& point, Int i, double part) {
  check_place(i, 1);
  return i == 0 ? Point{part, point.y} : Point{point.x, part};
}
Line line_with(const Line& line, Int i, double part) {
  check_place(i, 2);
  return {i == 0 ? part : line.a, i == 1 ? part : line.b, i == 2 ? part : line.c};
}
Segment segment_with(const Segment& segment, Int i, const Point& part) {
  check_place(i, 1);
  return i == 0 ? Segment{part, segment.end} : Segment{segment.begin, part};
}
Box box_with(const Box& box, Int i, const Point& part) {
  check_place(i, 1);
  return i == 0 ? Box{part, box.low} : Box{box.high, part};
}

}  // namespace

const GeometricParts* find_geometric_parts(Oid type) {
  static const std::vector<GeometricParts> kParts = {
      {oid::kPoint, kFloat8, geometric<part_of_point>("[]", {kPointType, kInt4}, kFloat8),
       geometric<point_with>("[]", {kPointType, kInt4, kFloat8}, kPointType)},
      {oid::kLine, kFloat8, geometric<part_of_line>("[]", {kLineType, kInt4}, kFloat8),
       geometric<line_with>("[]", {kLineType, kInt4, kFloat8}, kLineType)},
      {oid::kLseg, kPointType, geometric<part_of_segment>("[]", {kSegmentType, kInt4}, kPointType),
       geometric<segment_with>("[]", {kSegmentType, kInt4, kPointType}, kSegmentType)},
      {oid::kBox, kPointType, geometric<part_of_box>("[]", {kBoxType, kInt4}, kPointType),
       geometric<box_with>("[]", {kBoxType, kInt4, kPointType}, kBoxType)},
  };
  const auto found = std::ranges::find(kParts, type, &GeometricParts::type);
  return found == kParts.end() ? nullptr : &*found;
}

}  // namespace redquel::sql
