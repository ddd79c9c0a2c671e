#include "parser/convert.h"

namespace redquel::parser {
namespace {

ast::PublicationObject convert_object(const PgQuery__PublicationObjSpec& object) {
  using Kind = ast::PublicationObject::Kind;
  ast::PublicationObject result;
  if (object.pubtable != nullptr) {
    result.table = convert_relation(*object.pubtable->relation);
    result.has_columns = object.pubtable->n_columns != 0;
    result.has_condition = object.pubtable->where_clause != nullptr;
    return result;
  }
  const bool is_current = object.pubobjtype == PG_QUERY__PUBLICATION_OBJ_SPEC_TYPE__PUBLICATIONOBJ_TABLES_IN_CUR_SCHEMA;
  result.kind = is_current ? Kind::kCurrentSchema : Kind::kSchema;
  result.schema = object.name;
  return result;
}

std::vector<ast::PublicationObject> convert_objects(Nodes items) {
  std::vector<ast::PublicationObject> objects;
  for (const Node* item : items) objects.push_back(convert_object(*item->publication_obj_spec));
  return objects;
}

}  // namespace

ast::CreatePublication convert_create_publication(const PgQuery__CreatePublicationStmt& create) {
  return {create.pubname, create.for_all_tables != 0, convert_objects(nodes(create.pubobjects, create.n_pubobjects)),
          convert_options(nodes(create.options, create.n_options))};
}

ast::AlterPublication convert_alter_publication(const PgQuery__AlterPublicationStmt& alter) {
  using Action = ast::AlterPublication::Action;
  ast::AlterPublication result;
  result.name = alter.pubname;
  result.objects = convert_objects(nodes(alter.pubobjects, alter.n_pubobjects));
  result.options = convert_options(nodes(alter.options, alter.n_options));
  if (alter.n_options != 0) result.action = Action::kSetOptions;
  else if (alter.action == PG_QUERY__ALTER_PUBLICATION_ACTION__AP_DropObjects) result.action = Action::kDrop;
  else if (alter.action == PG_QUERY__ALTER_PUBLICATION_ACTION__AP_SetObjects) result.action = Action::kSet;
  return result;
}

}  // namespace redquel::parser
