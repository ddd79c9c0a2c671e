#include "executor/statements/create_schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "executor/ddl/object_lookup.h"
#include "executor/engine/inner_statements.h"
#include "executor/roles/acting_role.h"
#include "executor/statements/definition_execution.h"
#include "sql/sqlstate.h"

namespace redquel::executor {

namespace ast = parser::ast;
using sql::SqlError;

namespace {

/// The new schema is the first one in which names are looked up, for as long as its elements are made.
class SchemaInFront {
 public:
  SchemaInFront(SessionState& session, const std::string& schema) : session_(session), before_(session.written_path) {
    std::vector<std::string> path = before_;
    path.insert(path.begin(), schema);
    session_.set_search_path(std::move(path));
  }
  ~SchemaInFront() { session_.set_search_path(std::move(before_)); }
  SchemaInFront(const SchemaInFront&) = delete;
  SchemaInFront& operator=(const SchemaInFront&) = delete;

 private:
  SessionState& session_;
  std::vector<std::string> before_;
};

/// The order in which PostgreSQL makes the elements, and the name under which each is made; null: it has none of its own.
struct ElementPlace {
  int turn = 0;
  const ast::RelationName* name = nullptr;
};
ElementPlace element_place(const ast::Statement& element) {
  if (const auto* sequence = std::get_if<ast::CreateSequence>(&element.node)) return {0, &sequence->relation};
  if (const auto* table = std::get_if<ast::CreateTable>(&element.node)) return {1, &table->relation};
  if (const auto* view = std::get_if<ast::CreateView>(&element.node)) return {2, &view->relation};
  if (const auto* index = std::get_if<ast::CreateIndex>(&element.node)) return {3, &index->relation};
  return {4, nullptr};
}

class CreateSchemaExecution final : public Execution {
 public:
  CreateSchemaExecution(RedisEngine& engine, PreparedPtr prepared, SessionState& session, std::unique_ptr<Execution> plain)
      : engine_(engine), prepared_(std::move(prepared)), session_(session), plain_(std::move(plain)) {}

  asio::awaitable<std::optional<sql::Batch>> next() override {
    co_await in_transaction(engine_, session_, make_all());
    co_return std::nullopt;
  }

  std::string command_tag() const override { return plain_->command_tag(); }

 private:
  asio::awaitable<void> make_all() {
    co_await plain_->next();
    const auto& statement = std::get<ast::CreateSchema>(prepared_->statement->node);
    const std::string schema = statement.name.empty() ? role_meant(session_, statement.role) : statement.name;
    std::vector<const ast::Statement*> elements;
    for (const auto& element : statement.elements) {
      const ast::RelationName* name = element_place(*element).name;
      if (name != nullptr && !name->schema.empty() && name->schema != schema) {
        throw SqlError(sqlstate::kInvalidSchemaDefinition,
                       fmt::format("CREATE specifies a schema ({}) different from the one being created ({})", name->schema, schema));
      }
      const auto* view = std::get_if<ast::CreateView>(&element->node);
      const auto* table = std::get_if<ast::CreateTable>(&element->node);
      const bool is_temporary = (view != nullptr && view->persistence == ast::Persistence::kTemporary) ||
                                (table != nullptr && table->persistence == ast::Persistence::kTemporary);
      if (is_temporary) {
        SqlError error(sqlstate::kInvalidTableDefinition, "cannot create temporary relation in non-temporary schema");
        if (table != nullptr) error.set_position(name->offset);
        throw error;
      }
      elements.push_back(element.get());
    }
    std::ranges::stable_sort(elements, {}, [](const ast::Statement* element) { return element_place(*element).turn; });
    std::optional<ActingRole> owner;  // makes the elements
    const sql::RoleDef* role = statement.role.empty() ? nullptr : sql::known_roles()->find(role_meant(session_, statement.role));
    if (role != nullptr) owner.emplace(session_, role->oid);
    const SchemaInFront in_front(session_, schema);
    for (const ast::Statement* element : elements) {
      auto inner = std::make_shared<Prepared>(*prepared_);
      inner->statement = std::shared_ptr<const ast::Statement>(prepared_->statement, element);
      const std::unique_ptr<Execution> run = make_definition_execution(engine_, std::move(inner), session_, {});
      co_await run->next();
    }
  }

  RedisEngine& engine_;
  PreparedPtr prepared_;
  SessionState& session_;
  std::unique_ptr<Execution> plain_;
};

}  // namespace

std::unique_ptr<Execution> make_create_schema(RedisEngine& engine, PreparedPtr prepared, SessionState& session, std::unique_ptr<Execution> plain) {
  return std::make_unique<CreateSchemaExecution>(engine, std::move(prepared), session, std::move(plain));
}

}  // namespace redquel::executor
