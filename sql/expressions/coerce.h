#pragma once

#include "sql/expressions/expression.h"
#include "sql/functions/function.h"
#include "sql/session_settings.h"
#include "sql/types/datetime.h"

namespace redquel::sql {

/// `expression` converted to `target`, modifier included; the same object where nothing is to do. Constants of type
/// unknown are read at once by the target's input function (22P02 … at the expression's offset; `now` is what 'now' and
/// 'today' mean). nullptr: no such cast in this context.
ExpressionPtr try_coerce(const ExpressionPtr& expression, Type target, CastContext context,
                         const SessionSettings& settings, Now now = {});
/// Like coerce(), but throws 42846 "cannot cast type boolean to date" at `offset` (the cast's own position) or at the expression.
ExpressionPtr coerce(const ExpressionPtr& expression, Type target, CastContext context, const SessionSettings& settings,
                     std::optional<std::uint32_t> offset = {}, Now now = {});

}  // namespace redquel::sql
