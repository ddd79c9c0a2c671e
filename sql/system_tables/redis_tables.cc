// The schema redis: what Redis says of itself. The executor asks for the rows (executor/tables/redis_scan.h). Of the schema redquel: the
// discovery of `redquel look` (executor/tables/discovery_rows.h).

#include "sql/system_tables/families.h"

namespace redquel::sql {
namespace {

const SystemTableDefinition kRedisTables[] = {
    {"redis", "keys", 15900, 'r', "key text!, type text!, ttl int8, encoding text, memory int8"},
    {"redis", "info", 15901, 'r', "section text!, name text!, value text!"},
    {"redis", "clients", 15902, 'r',
     "id int8!, addr text, laddr text, fd int8, name text, age int8, idle int8, flags text, db int4, sub int8, psub int8, "
     "ssub int8, multi int8, qbuf int8, qbuf_free int8, argv_mem int8, multi_mem int8, rbs int8, rbp int8, obl int8, oll int8, "
     "omem int8, tot_mem int8, events text, cmd text, user text, redir int8, resp int4, lib_name text, lib_ver text"},
    {"redis", "slowlog", 15903, 'r',
     "id int8!, at timestamptz!, microseconds int8!, command text!, arguments _text!, client_addr text, client_name text"},
    {"redis", "commandstats", 15904, 'r',
     "command text!, calls int8!, usec int8!, usec_per_call float8!, rejected_calls int8, failed_calls int8"},
    {"redis", "config", 15905, 'r', "name text!, value text"},
    {"redis", "memory_stats", 15906, 'r', "name text!, value text!"},
    {"redis", "latency", 15907, 'r', "event text!, at timestamptz!, latest_ms int8!, max_ms int8!"},
    {"redis", "streams", 15908, 'r',
     "key text!, length int8!, groups int8!, radix_tree_keys int8, radix_tree_nodes int8, last_generated_id text, "
     "max_deleted_entry_id text, entries_added int8, first_entry_id text, last_entry_id text"},
    {"redis", "groups", 15912, 'r',
     "key text!, name text!, consumers int8!, pending int8!, last_delivered_id text, entries_read int8, lag int8"},
    {"redis", "cluster_nodes", 15909, 'r',
     "id text!, address text!, flags _text!, master text, ping_sent int8, pong_received int8, config_epoch int8, link_state text, "
     "slots _text!"},
    {"redquel", "discovery", 15910, 'v',
     "state text!, keys_seen int8!, keys_total int8!, tables int8!, left_out int8!, seconds_left float8, started_at timestamptz!, "
     "ended_at timestamptz, error text"},
    {"redquel", "left_out", 15911, 'v', "pattern text!, type text, keys int8!, example text, reason text!"},
};

}  // namespace

SystemTableFamily redis_tables() { return kRedisTables; }

}  // namespace redquel::sql
