#include "planner/explain/explain_format.h"

#include <fmt/format.h>

#include <boost/json.hpp>

namespace redquel::planner {

namespace json = boost::json;

namespace {

bool is_composed(const json::value& value) {
  return (value.is_object() && !value.get_object().empty()) || (value.is_array() && !value.get_array().empty());
}

/// A number or a word as all formats print it. JSON and YAML quote words.
std::string scalar(const json::value& value) {
  return value.is_double() ? fmt::format("{:.3f}", value.get_double()) : json::serialize(value);
}

/// Boost.JSON prints on one line; people read EXPLAIN.
void print_json(const json::value& value, std::string& out, std::size_t depth) {
  if (!is_composed(value)) {
    out += scalar(value);
    return;
  }
  const std::string indent(depth * 2 + 2, ' '), closing(depth * 2, ' ');
  const bool is_object = value.is_object();
  out += is_object ? "{\n" : "[\n";
  bool is_first = true;
  const auto separate = [&] {
    if (!is_first) out += ",\n";
    is_first = false;
    out += indent;
  };
  if (is_object) {
    for (const auto& [key, member] : value.get_object()) {
      separate();
      out += json::serialize(json::string(key)) + ": ";
      print_json(member, out, depth + 1);
    }
  } else {
    for (const json::value& member : value.get_array()) {
      separate();
      print_json(member, out, depth + 1);
    }
  }
  out += "\n" + closing + (is_object ? "}" : "]");
}

/// Prints the members of an object from where the line stands; further lines are indented.
void print_yaml(const json::object& object, std::string& out, std::size_t indent) {
  bool is_first = true;
  for (const auto& [key, value] : object) {
    if (!is_first) out += "\n" + std::string(indent, ' ');
    is_first = false;
    out += fmt::format("{}: ", std::string_view(key));
    if (value.is_object()) {
      out += "\n" + std::string(indent + 2, ' ');
      print_yaml(value.get_object(), out, indent + 2);
    } else if (value.is_array()) {
      for (const json::value& element : value.get_array()) {
        out += "\n" + std::string(indent + 2, ' ') + "- ";
        if (element.is_object()) print_yaml(element.get_object(), out, indent + 4);
        else out += scalar(element);
      }
    } else {
      out += scalar(value);
    }
  }
}

/// An element's name: PostgreSQL writes a hyphen for each character that XML names cannot have.
std::string xml_name(std::string_view key) {
  std::string name(key);
  for (char& c : name) {
    const bool is_allowed = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
    if (!is_allowed) c = '-';
  }
  return name;
}

std::string xml_text(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '<') escaped += "&lt;";
    else if (c == '>') escaped += "&gt;";
    else if (c == '&') escaped += "&amp;";
    else if (c == '\r') escaped += "&#x0d;";
    else escaped += c;
  }
  return escaped;
}

void print_xml(std::string_view key, const json::value& value, std::string& out, std::size_t depth) {
  const std::string indent(depth * 2, ' '), name = xml_name(key);
  if (!value.is_object() && !value.is_array()) {
    out += fmt::format("{0}<{1}>{2}</{1}>\n", indent, name, value.is_string() ? xml_text(value.get_string()) : scalar(value));
    return;
  }
  out += fmt::format("{}<{}>\n", indent, name);
  if (value.is_object()) {
    for (const auto& [member, inner] : value.get_object()) print_xml(member, inner, out, depth + 1);
  } else {
    for (const json::value& element : value.get_array()) print_xml(element.is_object() ? "Plan" : "Item", element, out, depth + 1);
  }
  out += fmt::format("{}</{}>\n", indent, name);
}

}  // namespace

std::string formatted(const json::object& top, ExplainOptions::Format format) {
  std::string text;
  switch (format) {
    case ExplainOptions::Format::kText:
    case ExplainOptions::Format::kJson:
      print_json(json::array{top}, text, 0);
      break;
    case ExplainOptions::Format::kYaml:
      text = "- ";
      print_yaml(top, text, 2);
      break;
    case ExplainOptions::Format::kXml:
      text = "<explain xmlns=\"http://www.postgresql.org/2009/explain\">\n";
      print_xml("Query", top, text, 1);
      text += "</explain>";
      break;
  }
  return text;
}

}  // namespace redquel::planner
