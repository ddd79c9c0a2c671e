#pragma once

#include <boost/asio/awaitable.hpp>

#include "executor/catalog/catalog_draft.h"
#include "executor/catalog/ddl_context.h"
#include "parser/ast.h"

namespace redquel::executor {

/// Commits a draft that gives a table a partition with this bound, unless rows that are there forbid it. `child`: the table that becomes the
/// partition; empty: the draft makes it. Throws 23514 for rows of the table that the bound does not take, or of the default partition that it
/// takes.
asio::awaitable<void> add_partition(DdlContext& context, const parser::ast::RelationName& parent, const parser::ast::RelationName* child,
                                    const parser::ast::PartitionBound& bound, const MakeDraft& make);

asio::awaitable<void> attach_partition(DdlContext& context, const parser::ast::RelationName& table, const parser::ast::AttachPartition& command);
asio::awaitable<void> detach_partition(DdlContext& context, const parser::ast::RelationName& table, const parser::ast::DetachPartition& command);

/// ALTER INDEX … ATTACH PARTITION: the indexes must be alike. The index of the partitioned table counts once each partition has one.
void attach_index(CatalogDraft& draft, const parser::ast::RelationName& whole, const parser::ast::RelationName& part);

}  // namespace redquel::executor
