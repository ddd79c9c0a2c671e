#include "parser/convert.h"

namespace redquel::parser {
namespace {

std::string dotted(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    if (!text.empty()) text += '.';
    text += name;
  }
  return text;
}

using OptionValue = decltype(ast::Option::value);

OptionValue convert_option_constant(const PgQuery__AConst& constant) {
  switch (constant.val_case) {
    case PG_QUERY__A__CONST__VAL_IVAL:
      return std::int64_t{constant.ival->ival};
    case PG_QUERY__A__CONST__VAL_FVAL:
      return ast::NumberText{constant.fval->fval};
    case PG_QUERY__A__CONST__VAL_BOOLVAL:
      return constant.boolval->boolval != 0;
    case PG_QUERY__A__CONST__VAL_SVAL:
      return std::string(constant.sval->sval);
    case PG_QUERY__A__CONST__VAL_BSVAL:
      return std::string(constant.bsval->bsval);
    default:
      return std::monostate{};
  }
}

/// The words of a list: names, roles, types.
std::vector<std::string> convert_words(Nodes items) {
  std::vector<std::string> words;
  for (const Node* item : items) {
    switch (item->node_case) {
      case PG_QUERY__NODE__NODE_STRING:
        words.emplace_back(item->string->sval);
        break;
      case PG_QUERY__NODE__NODE_ROLE_SPEC:
        words.push_back(convert_role(item->role_spec));
        break;
      case PG_QUERY__NODE__NODE_TYPE_NAME:
        words.push_back(dotted(convert_names(nodes(item->type_name->names, item->type_name->n_names))));
        break;
      case PG_QUERY__NODE__NODE_LIST:
        words.push_back(dotted(convert_words(list_items(item))));
        break;
      default:
        break;
    }
  }
  return words;
}

OptionValue convert_value(const Node* node) {
  if (node == nullptr) return std::monostate{};
  switch (node->node_case) {
    case PG_QUERY__NODE__NODE_INTEGER:
      return std::int64_t{node->integer->ival};
    case PG_QUERY__NODE__NODE_FLOAT:
      return ast::NumberText{node->float_->fval};
    case PG_QUERY__NODE__NODE_BOOLEAN:
      return node->boolean->boolval != 0;
    case PG_QUERY__NODE__NODE_STRING:
      return std::string(node->string->sval);
    case PG_QUERY__NODE__NODE_A_CONST:
      return convert_option_constant(*node->a_const);
    case PG_QUERY__NODE__NODE_TYPE_NAME:
      return convert_type(*node->type_name);
    case PG_QUERY__NODE__NODE_LIST:
      return convert_words(list_items(node));
    case PG_QUERY__NODE__NODE_A_STAR:
      return ast::StarOption{};
    case PG_QUERY__NODE__NODE_ROLE_SPEC:
      return convert_role(node->role_spec);
    case PG_QUERY__NODE__NODE_VARIABLE_SET_STMT: {
      const ast::SetVariable set = convert_set_variable(*node->variable_set_stmt);
      std::vector<std::string> words{set.name};
      for (const ast::SettingValue& value : set.values) words.push_back(value.text);
      return words;
    }
    default:
      return std::monostate{};
  }
}

ast::OptionAction convert_action(PgQuery__DefElemAction action) {
  switch (action) {
    case PG_QUERY__DEF_ELEM_ACTION__DEFELEM_SET:
      return ast::OptionAction::kSet;
    case PG_QUERY__DEF_ELEM_ACTION__DEFELEM_ADD:
      return ast::OptionAction::kAdd;
    case PG_QUERY__DEF_ELEM_ACTION__DEFELEM_DROP:
      return ast::OptionAction::kDrop;
    default:
      return ast::OptionAction::kNone;
  }
}

}  // namespace

ast::Option convert_option(const PgQuery__DefElem& option) {
  const bool sets = option.arg != nullptr && option.arg->node_case == PG_QUERY__NODE__NODE_VARIABLE_SET_STMT;
  using Kind = ast::SetVariable::Kind;
  const Kind kind = sets ? convert_set_variable(*option.arg->variable_set_stmt).kind : Kind::kValue;
  // SET x TO DEFAULT and RESET x take the setting away, RESET ALL has no name; without values FROM CURRENT is left.
  if (kind == Kind::kDefault || kind == Kind::kReset || kind == Kind::kResetAll) {
    return {.name = option.defname, .value = convert_value(option.arg), .action = ast::OptionAction::kDrop,
            .offset = convert_location(option.location)};
  }
  return {.name_space = option.defnamespace,
          .name = option.defname,
          .value = convert_value(option.arg),
          .action = convert_action(option.defaction),
          .offset = convert_location(option.location)};
}

std::vector<ast::Option> convert_options(Nodes items) {
  std::vector<ast::Option> options;
  options.reserve(items.size());
  for (const Node* item : items) {
    if (item->node_case == PG_QUERY__NODE__NODE_DEF_ELEM) options.push_back(convert_option(*item->def_elem));
  }
  return options;
}

std::vector<ast::Option> convert_storage_options(Nodes items) {
  std::vector<ast::Option> options = convert_options(items);
  for (ast::Option& option : options) {
    if (const auto* type = std::get_if<ast::TypeName>(&option.value)) option.value = dotted(type->names);
  }
  return options;
}

}  // namespace redquel::parser
