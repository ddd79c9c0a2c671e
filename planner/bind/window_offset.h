#pragma once

#include "planner/bind/query_level.h"

namespace redquel::planner {

/// The offset of a frame bound: bigint for ROWS and GROUPS; for RANGE of the type that PostgreSQL's in_range functions of the ORDER BY
/// `key` take. 0A000 where there are none, 42804, 42P10 for columns in it.
sql::ExpressionPtr bind_frame_offset(BindState&, QueryLevel&, const parser::ast::Expression& written, FrameMode,
                                     const sql::ExpressionPtr& key);

}  // namespace redquel::planner
