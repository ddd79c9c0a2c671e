#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "sql/discovery/frameworks/framework_parts.h"
#include "sql/discovery/template_names.h"

namespace redquel::sql {

namespace {

constexpr std::string_view kSeparator = "\x06\x16";  // kombu's, in names of queues with priorities and in bindings
constexpr std::string_view kBinding = "_kombu.binding.";
constexpr std::string_view kTaskResult = "celery-task-meta-", kGroupResult = "celery-taskset-meta-";

bool is_message(std::string_view text) { return has_members(text, {"body", "headers", "properties", "delivery_tag"}); }

struct Queue {
  std::string key, name;
  std::string priority = "0";
};

Queue queue_of(std::string key) {
  const std::size_t separator = key.find(kSeparator);
  if (separator == std::string::npos) return {key, key};
  return {key, key.substr(0, separator), key.substr(separator + kSeparator.size())};
}

/// Returns the names of the lists that hold messages: those that were sampled, and those that bindings name.
std::set<std::string> queue_keys(std::span<const KeySample> keys) {
  std::set<std::string> queues;
  for (const KeySample& key : keys) {
    if (key.type == "list" && is_message(first_part(key))) queues.insert(key.key);
    if (key.type != "set" || !key.key.starts_with(kBinding)) continue;
    for (const auto& [binding, nothing] : key.parts) {
      const std::size_t last = binding.rfind(kSeparator);
      const bool is_reply = binding.ends_with(".reply.celery.pidbox") || binding.ends_with(".celery.pidbox");
      if (last != std::string::npos && !is_reply && !contains(binding, "celeryev.")) queues.insert(binding.substr(last + kSeparator.size()));
    }
  }
  std::erase_if(queues, [](const std::string& name) {
    const std::string plain = queue_of(name).name + queue_of(name).priority;
    return plain.empty() || std::ranges::any_of(plain, [](char c) { return static_cast<unsigned char>(c) < 0x20; });
  });
  return queues;
}

std::string messages_query(const std::map<std::string, Queue>& tables) {
  std::string query =
      "SELECT s.queue, s.state, s.priority, s.message->'headers'->>'id' AS task_id, s.message->'headers'->>'task' AS task,\n"
      "  s.message->'headers'->>'argsrepr' AS args, s.message->'headers'->>'kwargsrepr' AS kwargs,\n"
      "  (s.message->'headers'->>'eta')::timestamptz AS eta, (s.message->'headers'->>'retries')::int AS retries, s.reserved_at,\n"
      "  decode(s.message->>'body', 'base64') AS body, s.message\nFROM (\n"
      "  SELECT u.message->>2 AS queue, 'unacked'::text AS state, (u.message->0->'properties'->>'priority')::int AS priority, t.reserved_at,\n"
      "    u.message->0 AS message FROM {unacked} u LEFT JOIN {unacked_time} t ON t.delivery_tag = u.delivery_tag\n";
  for (const auto& [table, queue] : tables) {
    query += fmt::format("  UNION ALL SELECT '{}', 'queued', {}, NULL, m.message FROM {{{}}} m\n", queue.name, queue.priority, table);
  }
  return query + ") s";
}

void add_broker(ProposedFramework& proposal, const std::set<std::string>& keys) {
  std::map<std::string, Queue> tables;
  std::set<std::string> taken;
  for (const std::string& key : keys) {
    Queue queue = queue_of(key);
    const bool is_plain = std::ranges::all_of(queue.priority, [](char c) { return c >= '0' && c <= '9'; }) && queue.name.find_first_of("'\\{}") == std::string::npos;
    if (!is_plain || queue.priority.size() > 4) continue;
    const std::string name = unique_name("queue_" + column_name(queue.name) + (queue.priority == "0" ? "" : "_" + queue.priority), taken);
    proposal.tables.push_back(list_table(name, template_literal(key), {}, "message", "jsonb"));
    tables.emplace(name, std::move(queue));
  }
  proposal.tables.push_back(proposed_table("unacked", "hash_fields", "unacked",
      {proposed_column("delivery_tag", "text", {{"role", "field"}}), proposed_column("message", "jsonb", {{"role", "value"}})}));
  proposal.tables.push_back(timed_table("unacked_time", "unacked_index", {}, "delivery_tag", "reserved_at"));
  proposal.views.push_back({"messages", messages_query(tables), "Celery: messages in queues, and those that a worker has taken and not acknowledged"});
}

void add_results(ProposedFramework& proposal) {
  ProposedTable results = proposed_table("results", "string", std::string(kTaskResult) + "{task_id}",
      {proposed_column("task_id", "text"), proposed_column("status", "text"), proposed_column("result", "jsonb"), proposed_column("traceback", "text"),
       proposed_column("children", "jsonb"), proposed_column("date_done", "timestamp")});
  results.parts = "json";
  proposal.tables.push_back(std::move(results));
  proposal.tables.push_back(proposed_table("group_results", "string", std::string(kGroupResult) + "{group_id}",
      {proposed_column("group_id", "text"), proposed_column("result", "jsonb", {{"role", "value"}})}));
}

}  // namespace

/// Celery's broker (kombu) keeps each queue as a list of JSON messages; a queue of priority 6 is `<queue>\x06\x166`. Its result backend keeps
/// a string `celery-task-meta-<task id>` for each task, JSON by default.
std::vector<FoundFramework> recognise_celery(std::span<const KeySample> keys) {
  const std::set<std::string> queues = queue_keys(keys);
  const auto is_result = [](const KeySample& key) { return key.key.starts_with(kTaskResult) && has_members(first_part(key), {"status", "result"}); };
  const bool has_broker = !queues.empty(), has_results = std::ranges::any_of(keys, is_result);
  if (!has_broker && !has_results) return {};
  FoundFramework found = found_framework("Celery", "celery", has_broker ? "Celery: messages of tasks, and their results" : "Celery: results of tasks");
  if (has_broker) add_broker(found.proposal, queues);
  if (has_results) add_results(found.proposal);
  found.owns = [queues, has_broker, has_results](const KeySample& key) {
    if (has_results && (key.key.starts_with(kTaskResult) || key.key.starts_with(kGroupResult))) return true;
    if (!has_broker) return false;
    return queues.contains(key.key) || key.key.starts_with(kBinding) || key.key.starts_with("unacked") || contains(key.key, kSeparator);
  };
  std::vector<FoundFramework> all;
  all.push_back(std::move(found));
  return all;
}

}  // namespace redquel::sql
