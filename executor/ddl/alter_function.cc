#include "executor/catalog/catalog_draft.h"
#include "executor/ddl/catalog_change.h"
#include "executor/ddl/ddl.h"
#include "executor/ddl/function_lookup.h"
#include "executor/ddl/function_options.h"

namespace redquel::executor {

asio::awaitable<void> run(DdlContext& context, const parser::ast::AlterFunction& statement) {
  const MakeDraft make = [&](CatalogDraft& draft) {
    sql::FunctionDef function = *require_function(draft, statement.function, statement.object);
    apply_function_options(function, statement.options, draft.session());
    draft.put(std::move(function));
  };
  co_await change_catalog(context, make);
}

}  // namespace redquel::executor
