"""Discovery of known frameworks, over keys that their own libraries have written (tests/frameworks/)."""
import os
import time

from harness.programs import run
from harness.stored_data import load

LIMIT = 600  # a million jobs with LONG_TESTS

SAMPLES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "frameworks")


def discovered(build, server, *samples):
    """A connection to a server over the samples' keys, after the statements that redquel discover has printed for them."""
    with server.redis_connection() as redis:
        for sample in samples:
            load(redis, os.path.join(SAMPLES, sample + ".jsonl"))
    text = run([os.path.join(build, "redquel"), "discover", "--redis", server.redis.url, "--max-redis-share", "100"], timeout=LIMIT)
    connection = server.connect()
    connection.run(text)
    return connection, text


def check(connection, wanted):
    for sql, rows in wanted.items():
        given = sorted(connection.run(sql), key=str)
        assert given == sorted(rows, key=str), (sql, given)


def test_bullmq(build, fresh_server):
    connection, text = discovered(build, fresh_server, "bullmq")
    with connection:
        assert "-- BullMQ: queues of jobs under the prefix bull" in text and ", 0 tables proposed" in text, text
        check(connection, {
            "SELECT failed_reason, count(*) FROM bullmq.jobs WHERE queue = 'mail' AND state = 'failed' GROUP BY 1":
                [["mailbox full", "1"], ["no route to host", "1"]],
            "SELECT state, count(*) FROM bullmq.jobs WHERE queue = 'mail' GROUP BY 1":
                [["active", "1"], ["completed", "3"], ["delayed", "3"], ["failed", "2"], ["prioritized", "1"], ["waiting", "2"]],
            "SELECT state, count(*) FROM bullmq.jobs WHERE queue = 'report' GROUP BY 1":
                [["active", "1"], ["completed", "3"], ["delayed", "3"], ["failed", "2"], ["prioritized", "1"], ["waiting", "1"], ["waiting-children", "1"]],
            "SELECT id, name, data->>'to', attempts_made, returnvalue->>'sent' FROM bullmq.jobs WHERE queue = 'mail' AND state = 'completed'":
                [["1", "welcome", "user1@example.com", "1", "1"], ["3", "welcome", "user3@example.com", "1", "3"],
                 ["5", "welcome", "user5@example.com", "1", "5"]],
            # a job of a scheduler: its id has colons
            "SELECT name, data->>'days', id LIKE 'repeat:nightly:%' FROM bullmq.jobs WHERE queue = 'mail' AND name = 'cleanup'": [["cleanup", "30", "t"]],
            "SELECT count(*) FROM bullmq.jobs WHERE created_at IS NULL OR name IS NULL": [["0"]],
            "SELECT count(*) FROM bullmq.jobs WHERE processed_on < created_at": [["0"]],
            "SELECT obj_description('bullmq.jobs'::regclass)": [["BullMQ: jobs of all queues with their state"]],
        })


JOBS = 1_000_000 if os.environ.get("LONG_TESTS") else 20_000
FAILED = JOBS // 100
MORE_JOBS = """
for id = tonumber(ARGV[1]), tonumber(ARGV[2]) do
  local key = 'bull:mail:' .. id
  redis.call('COPY', 'bull:mail:1', key, 'REPLACE')
  if id % 100 == 0 then
    redis.call('HSET', key, 'failedReason', 'reason ' .. (id / 100) % 7)
    redis.call('ZADD', 'bull:mail:failed', id, id)
  else
    redis.call('ZADD', 'bull:mail:completed', id, id)
  end
end
"""


def test_failed_jobs_among_many(build, fresh_server):
    """Redis is asked for the jobs of the wanted state alone."""
    with fresh_server.redis_connection() as redis:
        load(redis, os.path.join(SAMPLES, "bullmq.jsonl"))
        for first in range(1001, 1001 + JOBS, 10_000):
            redis("EVAL", MORE_JOBS, "0", first, first + 9_999)
        redis("ZREMRANGEBYSCORE", "bull:mail:failed", "1000000000", "+inf")  # those of the sample
    connection, text = discovered(build, fresh_server)
    query = "SELECT failed_reason, count(*) FROM bullmq.jobs WHERE queue = 'mail' AND state = 'failed' GROUP BY 1"
    with connection, fresh_server.redis_connection() as redis:
        connection.run(query)
        redis("CONFIG", "RESETSTAT")
        begun = time.monotonic()
        rows = connection.run(query)
        took = time.monotonic() - begun
        counts = redis.command_counts()
        of_redis = sum(int(text.split("usec=")[1].split(",")[0]) for text in redis.info("commandstats").values()) / 1e6
        assert len(rows) == 7 and sum(int(row[1]) for row in rows) == FAILED, rows
        assert counts["HMGET"] == FAILED, counts
        assert set(counts) <= {"HMGET", "ZSCAN", "ZRANGE", "GET", "INFO", "CONFIG|RESETSTAT", "MULTI", "EXEC", "ZSCORE", "ZCARD"}, counts
        print(f"{JOBS} jobs, {FAILED} failed: {took * 1000:.0f} ms, of Redis {of_redis * 1000:.1f} ms")


def test_bull(build, fresh_server):
    connection, text = discovered(build, fresh_server, "bull")
    with connection:
        assert "-- Bull: queues of jobs under the prefix bull" in text and ", 0 tables proposed" in text, text
        check(connection, {
            "SELECT failed_reason, count(*) FROM bull.jobs WHERE queue = 'video' AND state = 'failed' GROUP BY 1": [["bad codec", "1"], ["disk full", "1"]],
            "SELECT state, count(*) FROM bull.jobs WHERE queue = 'video' GROUP BY 1":
                [["active", "1"], ["completed", "3"], ["delayed", "3"], ["failed", "2"], ["waiting", "1"]],
            "SELECT id, data->>'file', attempts_made FROM bull.jobs WHERE queue = 'audio' AND state = 'failed'":
                [["4", "f4.mp4", "1"], ["6", "f6.mp4", "1"]],
            "SELECT count(*) FROM bull.jobs WHERE created_at IS NULL OR name IS NULL": [["0"]],
        })


def test_bull_queues_with_colons(build, fresh_server):
    with fresh_server.redis_connection() as redis:
        load(redis, os.path.join(SAMPLES, "bull.jsonl"))
        for key in redis("KEYS", "bull:audio:*"):
            redis("RENAME", key, key.replace("bull:audio:", "bull:audio:eu:"))
    connection, text = discovered(build, fresh_server)
    with connection:
        assert "-- Bull: queues of jobs under the prefix bull:audio" in text, text
        check(connection, {
            "SELECT id, data->>'file' FROM bull_2.jobs WHERE queue = 'eu' AND state = 'failed'": [["4", "f4.mp4"], ["6", "f6.mp4"]],
            "SELECT count(*) FROM bull.jobs WHERE queue = 'video' AND state = 'failed'": [["2"]],
        })


def test_horizon(build, fresh_server):
    connection, text = discovered(build, fresh_server, "horizon")
    with connection:
        assert "-- Horizon: jobs under the prefix shop_horizon:" in text and ", 0 tables proposed" in text, text
        check(connection, {
            "SELECT queue, state, count(*) FROM horizon.jobs GROUP BY 1, 2":
                [["default", "pending", "1"], ["mail", "pending", "1"], ["default", "completed", "2"], ["mail", "completed", "1"], ["mail", "failed", "1"]],
            "SELECT exception, attempts, failed_at = created_at FROM horizon.jobs WHERE state = 'failed'": [["RuntimeException: mailbox full", "5", "t"]],
        })


def test_rails(build, fresh_server):
    connection, text = discovered(build, fresh_server, "rails", "rails_session")
    with connection:
        assert "-- Rails: cache and sessions under the prefix shop:" in text and "-- Rails: sessions under the prefix rack:session:" in text, text
        assert ", 0 tables proposed" in text, text
        check(connection, {
            "SELECT key, get_byte(value, 0), ttl > 0 FROM rails.cache WHERE key IN ('views/products/1', 'views/products/2')":
                [["views/products/1", "4", "t"], ["views/products/2", "4", None]],
            "SELECT private_id, ttl > 0 FROM rails.sessions": [["ab12" * 16, "t"]],
            "SELECT private_id, get_byte(value, 2) FROM rails_session.sessions": [["c" * 64, "123"], ["d" * 64, "123"]],
        })


def test_kamailio(build, fresh_server):
    connection, text = discovered(build, fresh_server, "kamailio")
    with connection:
        assert "-- Kamailio: registered contacts in the table location" in text and ", 0 tables proposed" in text, text
        check(connection, {
            "SELECT left(ruid, 4), contact, cseq FROM kamailio.contacts WHERE username = 'ann' AND domain = 'example.com'":
                [["uloc", "sip:ann@10.0.0.1:5060", "10"], ["uloc", "sip:ann@10.0.0.2:5060", "11"]],
            "SELECT username, count(*) FROM kamailio.contacts GROUP BY 1": [["ann", "2"], ["bob", "1"]],
        })


def test_sidekiq(build, fresh_server):
    connection, text = discovered(build, fresh_server, "sidekiq")
    with connection:
        assert "-- Sidekiq: queues of jobs" in text and ", 0 tables proposed" in text, text
        check(connection, {
            "SELECT state, queue, count(*) FROM sidekiq.jobs GROUP BY 1, 2":
                [["enqueued", "mail", "5"], ["enqueued", "default", "3"], ["scheduled", "mail", "2"], ["retry", "mail", "2"], ["dead", "mail", "1"]],
            "SELECT error_class, error_message, retry_count FROM sidekiq.jobs WHERE state = 'retry'":
                [["ArgumentError", "mailbox full", "0"], ["ArgumentError", "no route to host", "0"]],
            "SELECT class, args->>0 FROM sidekiq.jobs WHERE state = 'enqueued' AND queue = 'mail' AND args->>1 = '3'": [["Mailer", "user3@example.com"]],
            "SELECT count(*) FROM sidekiq.jobs WHERE at > created_at AND state = 'scheduled'": [["2"]],
            "SELECT name, value FROM sidekiq.stat": [["failed", "1"], ["processed", "4"]],
            "SELECT count(*) FROM sidekiq.process": [["1"]],
            "SELECT tid, queue, class, args->>0, run_at > '2026-01-01' FROM sidekiq.running": [["abc1", "mail", "Mailer", "busy@example.com", "t"]],
        })


def test_resque(build, fresh_server):
    connection, text = discovered(build, fresh_server, "resque")
    with connection:
        assert "-- Resque: queues of jobs under the prefix resque:" in text, text
        check(connection, {
            "SELECT state, queue, count(*) FROM resque.jobs GROUP BY 1, 2":
                [["enqueued", "mail", "3"], ["enqueued", "report", "1"], ["delayed", "mail", "1"], ["failed", "mail", "3"]],
            "SELECT failed_reason, count(*), min(worker) FROM resque.jobs WHERE state = 'failed' GROUP BY 1":
                [["mailbox full", "2", "w1"], ["no route to host", "1", "w1"]],
            "SELECT class, args->>0 FROM resque.jobs WHERE state = 'delayed'": [["send", "late@example.com"]],
            "SELECT name, value FROM resque.stat": [["failed", "3"], ["processed", "3"]],
        })


def test_celery(build, fresh_server):
    connection, text = discovered(build, fresh_server, "celery")
    with connection:
        assert "-- Celery: messages of tasks, and their results" in text and ", 0 tables proposed" in text, text
        check(connection, {
            "SELECT queue, state, priority, count(*) FROM celery.messages GROUP BY 1, 2, 3":
                [["celery", "queued", "0", "3"], ["celery", "unacked", "0", "2"], ["mail", "queued", "0", "4"], ["mail", "queued", "6", "1"]],
            "SELECT task, args, convert_from(body, 'UTF8')::jsonb->0->>0 FROM celery.messages WHERE priority = 6":
                [["shop.tasks.send", "('x@example.com', 1)", "x@example.com"]],
            "SELECT count(*) FROM celery.messages WHERE eta IS NOT NULL": [["1"]],
            "SELECT count(*) FROM celery.messages WHERE (state = 'unacked') <> (reserved_at IS NOT NULL)": [["0"]],
            "SELECT status, count(*), count(DISTINCT result->>'exc_type') FROM celery.results GROUP BY 1": [["SUCCESS", "2", "0"], ["FAILURE", "2", "1"]],
            "SELECT count(*) FROM celery.group_results": [["1"]],
        })


def test_rq(build, fresh_server):
    connection, text = discovered(build, fresh_server, "rq")
    with connection:
        assert "-- RQ: queues of jobs" in text and ", 0 tables proposed" in text, text
        check(connection, {
            "SELECT queue, state, count(*) FROM rq.jobs GROUP BY 1, 2":
                [[queue, state, count] for queue in ("mail", "default")
                 for state, count in (("queued", "3"), ("finished", "2"), ("failed", "2"), ("deferred", "1"), ("scheduled", "1"))],
            "SELECT description, worker_name, ended_at >= started_at FROM rq.jobs WHERE queue = 'mail' AND state = 'failed'":
                [["send 1", "w-mail", "t"], ["send 3", "w-mail", "t"]],
            "SELECT count(*) FROM rq.jobs WHERE status <> state": [["0"]],
            # a pickled call stays bytes; zlib's first byte
            "SELECT DISTINCT get_byte(data, 0) FROM rq.jobs": [["120"]],
            "SELECT type, count(*) FROM rq.result GROUP BY 1": [["1", "4"], ["2", "4"]],
        })


def test_laravel(build, fresh_server):
    connection, text = discovered(build, fresh_server, "laravel")
    with connection:
        assert "-- Laravel: queues of jobs under the prefix shop_database_" in text and ", 0 tables proposed" in text, text
        check(connection, {
            "SELECT queue, state, count(*) FROM laravel.jobs GROUP BY 1, 2":
                [[queue, state, count] for queue in ("mail", "default") for state, count in (("pending", "4"), ("delayed", "2"), ("reserved", "1"))],
            "SELECT name, attempts, max_tries FROM laravel.jobs WHERE queue = 'mail' AND state = 'reserved'": [["SendMail", "1", "3"]],
            "SELECT key, convert_from(value, 'UTF8') FROM laravel_cache.entries WHERE key IN ('user.1', 'page:3', 'city')":
                [["user.1", 'a:2:{s:4:"name";s:3:"ann";s:3:"age";i:30;}'], ["page:3", 's:8:"<p>3</p>";'], ["city", 's:7:"Zürich";']],
            "SELECT ttl IS NULL FROM laravel_cache.entries WHERE key = 'rate'": [["t"]],
            "SELECT count(*), bool_and(ttl > 0) FROM laravel_cache.sessions": [["3", "t"]],
        })


def test_django(build, fresh_server):
    connection, text = discovered(build, fresh_server, "django")
    with connection:
        assert "-- Django: cache and sessions under the prefix shop:1:" in text and ", 0 tables proposed" in text, text
        check(connection, {
            "SELECT key, get_byte(value, 0), ttl > 0 FROM django.cache WHERE key IN ('city', 'page:1')": [["city", "128", "t"], ["page:1", "128", None]],
            "SELECT convert_from(value, 'UTF8') FROM django.cache WHERE key = 'hits'": [["6"]],
            "SELECT count(*), min(length(session_key)), bool_and(ttl > 0) FROM django.sessions": [["3", "32", "t"]],
        })


def test_sessions_locks_and_limits(build, fresh_server):
    connection, text = discovered(build, fresh_server, "connect_redis", "spring_session", "locks", "socket_io")
    with connection:
        assert ", 0 tables proposed" in text, text
        check(connection, {
            "SELECT sid, session->'user'->>'name', expires > '2026-01-01', ttl > 0 FROM connect_redis.sessions WHERE sid = 'aB3-2xYz'":
                [["aB3-2xYz", "user 2", "t", "t"]],
            "SELECT count(*) FROM connect_redis.sessions": [["5"]],
            "SELECT id, convert_from(creation_time, 'UTF8'), ttl > 0 FROM spring_session.sessions":
                [["33fdd1b6-b496-4b33-9f7d-df96679d32fe", "1404360000000", "t"]],
            "SELECT key, points, ttl > 0 FROM rate_limiter.counters": [["10.0.0.1", "3", "t"], ["user_7", "1", "t"]],
            "SELECT resource, length(token), ttl > 0 FROM redlock.locks": [["invoice", "32", "t"], ["report", "32", "t"]],
            "SELECT namespace, type, data::jsonb->'opts'->'rooms' FROM socket_io.packets": [["/", "3", "[]"], ["/", "3", '["room1"]']],
        })


def test_frameworks_beside_other_keys(build, fresh_server):
    """Each framework owns its keys and leaves those of others alone; their schemas have different names."""
    with fresh_server.redis_connection() as redis:
        for number in range(1, 40):
            redis("HSET", f"bull:{number}", "name", f"bull {number}", "farm", "north")
            redis("HSET", f"customer:{number}", "name", f"c{number}", "city", "Bern")
    connection, text = discovered(build, fresh_server, "bullmq", "sidekiq", "resque", "celery", "rq", "laravel")
    with connection:
        check(connection, {
            "SELECT count(*) FROM customer": [["39"]], "SELECT count(*) FROM bull WHERE farm = 'north'": [["39"]],
            "SELECT count(*) FROM bullmq.jobs": [["24"]], "SELECT count(*) FROM sidekiq.jobs": [["13"]], "SELECT count(*) FROM celery.results": [["4"]],
        })
        assert text.count("CREATE SCHEMA") == 7, text


def test_import_puts_frameworks_into_the_schema(build, fresh_server):
    with fresh_server.redis_connection() as redis:
        load(redis, os.path.join(SAMPLES, "bullmq.jsonl"))
        load(redis, os.path.join(SAMPLES, "sidekiq.jsonl"))
    with fresh_server.connect() as connection:
        connection.run("CREATE SCHEMA app")
        connection.run('IMPORT FOREIGN SCHEMA "*" LIMIT TO (bullmq_jobs) FROM SERVER redis INTO app')
        check(connection, {
            "SELECT count(*) FROM app.bullmq_jobs WHERE queue = 'mail' AND state = 'completed'": [["3"]],
            "SELECT count(*) FROM pg_class WHERE relname LIKE 'sidekiq%'": [["0"]],
        })
        connection.run('IMPORT FOREIGN SCHEMA "*" EXCEPT (bullmq_jobs) FROM SERVER redis INTO app')
        check(connection, {"SELECT count(*) FROM app.sidekiq_jobs": [["13"]]})


def test_hostile_keys_of_frameworks(build, fresh_server):
    """Names from Redis stand in statements as quoted texts, and broken values are values, not failures."""
    message = '{"body": "", "headers": {}, "properties": {"delivery_tag": ""}}'
    with fresh_server.redis_connection() as redis:
        redis("HSET", "it's\x1b[31m;{x}\n--:mail:meta", "version", "bullmq:5.0.0")
        redis("ZADD", "it's\x1b[31m;{x}\n--:mail:failed", "1", "7")
        redis("RPUSH", "a'); DROP SCHEMA public;--", message)
        redis("RPUSH", "queue:mail", '{"jid": 1, "class": [], "args"')
        redis("RPUSH", "queue:odd", '{"jid": 1, "class": [], "args": 5}')
        redis("SADD", "queues", "odd")
    connection, text = discovered(build, fresh_server)
    with connection:
        assert "\x1b" not in text, text
        check(connection, {
            "SELECT id, failed_reason FROM bullmq.jobs WHERE queue = 'mail' AND state = 'failed'": [["7", None]],
            "SELECT queue, class, args FROM sidekiq.jobs": [["odd", "[]", "5"]],
            "SELECT count(*) FROM pg_namespace WHERE nspname = 'public'": [["1"]],
        })


def test_spring_data(build, fresh_server):
    connection, text = discovered(build, fresh_server, "spring_data")
    with connection:
        assert "-- Spring Data Redis: entities of the keyspace people" in text and ", 0 tables proposed" in text, text
        check(connection, {
            "SELECT lastname, age, address_city FROM spring_data.people WHERE firstname = 'rand'": [["al'thor", "20", "two rivers"], ["other", "22", "cairhien"]],
            "SELECT firstname, _class FROM spring_data.people WHERE address_city = 'tar valon'": [["egwene", "com.acme.Person"]],
            "SELECT count(*) FROM spring_data.people_id": [["4"]],
            "SELECT id FROM spring_data.people_id EXCEPT SELECT id FROM spring_data.people": [],
            "SELECT obj_description('spring_data.people'::regclass)": [["Spring Data Redis: entities of the keyspace people"]],
        })
        plan = str(connection.run("EXPLAIN SELECT lastname FROM spring_data.people WHERE firstname = 'rand'"))
        assert "SSCAN people:firstname:rand" in plan, plan


def test_redis_om(build, fresh_server):
    connection, text = discovered(build, fresh_server, "redis_om")
    with connection:
        assert "-- Redis OM: entities with the prefix Album" in text and "-- Redis OM: entities with the prefix com.acme:Person" in text, text
        assert ", 0 tables proposed" in text, text
        check(connection, {
            "SELECT title, year, genres, to_timestamp(released)::date FROM redis_om.album WHERE artist = 'artist 0'":
                [["title 2", "1992", "metal|g2", "1992-01-01"], ["title 4", "1994", "metal|g4", "1994-01-01"]],
            "SELECT count(*) FROM redis_om.album WHERE length(id) = 26": [["4"]],
            "SELECT name FROM redis_om_2.person": [["ann"]],
        })


def test_ohm(build, fresh_server):
    connection, text = discovered(build, fresh_server, "ohm")
    with connection:
        assert "layout 'ohm'" in text and ", 1 tables proposed" in text, text
        check(connection, {
            "SELECT obj_description(oid) FROM pg_class WHERE relkind = 'f'": [["Ohm: objects of the model User"]],
            'SELECT id, email FROM "user" WHERE name = \'ann\'': [["1", "ann@x.org"], ["3", "ann2@x.org"]],
        })
