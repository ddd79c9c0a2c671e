#!/usr/bin/python3
"""Writes keys as real applications write them into a Redis: queues, sessions, carts, caches, leaderboards, streams.

    bench/keyspace.py SOCKET [--keys 2000000]

The kinds (and their parts of 2,000,000 keys): jobs of BullMQ (300,000), users (250,000), sessions of Spring Session (200,000) and of
connect-redis (200,000), rate limits (200,000), cached pages (200,000), carts (180,000), products as JSON (150,000), results of Celery
(100,000), keys that Java serialized (80,000), preferences by mail address (60,000), streams of tenants (2,000), 60 leaderboards of 10,000
members, queues of Sidekiq and Celery, keys of several thousand forms (about 78,000), and single keys: the stream `orders`, the hash
`config`, counters. The script runs within Redis, in steps of a thousand keys.
"""
import argparse
import os
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tests"))

from harness.resp import RedisConnection  # noqa: E402

WHOLE = 2_000_000
STEP = 1000

# Beginning of each script: numbers that look random, but are the same in each run.
COMMON = """
local first, last, now = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local call, format, sha = redis.call, string.format, redis.sha1hex
local function uuid(i) local h = sha('uuid' .. i) return h:sub(1, 8) .. '-' .. h:sub(9, 12) .. '-4' .. h:sub(14, 16) .. '-a' .. h:sub(18, 20) .. '-' .. h:sub(21, 32) end
local function pick(list, i) return list[i % #list + 1] end
local function java(text) return '\\172\\237\\0\\5t' .. string.char(math.floor(#text / 256), #text % 256) .. text end
local names = {'ann', 'bob', 'cid', 'dora', 'emil', 'fritz', 'gina', 'hugo', 'ida', 'jan'}
local cities = {'Bern', 'Basel', 'Wien', 'Graz', 'Köln', 'Bonn', 'Lyon', 'Nice'}
local queues = {'mail', 'image', 'invoice', 'webhook', 'report', 'sync', 'export', 'thumbnail'}
"""

# Each kind: its part of the keys, and the script for the numbers first to last.
KINDS = {
    "bullmq": (300_000, """
for i = first, last do
  local queue = pick(queues, i)
  local id = math.floor(i / #queues) + 1
  local key, at = 'bull:' .. queue .. ':' .. id, now * 1000 - i * 250
  if id == 1 then
    call('HSET', 'bull:' .. queue .. ':meta', 'opts.maxLenEvents', '10000', 'version', 'bullmq:5.12.0')
    call('SET', 'bull:' .. queue .. ':id', '100000')
  end
  call('HSET', key, 'name', 'job', 'data', format('{"customer":%d,"order":%d,"to":"user%d@example.com"}', i % 997, i, i % 250000), 'opts', '{"attempts":3}',
       'timestamp', format('%d', at), 'delay', '0', 'priority', '0', 'attemptsMade', tostring(i % 3))
  if i % 50 == 0 then
    call('HSET', key, 'failedReason', pick({'timeout', 'connection refused', 'invalid address'}, i / 50), 'finishedOn', format('%d', at + 900), 'processedOn', format('%d', at + 100))
    call('ZADD', 'bull:' .. queue .. ':failed', at + 900, id)
  elseif i % 100 == 1 then call('LPUSH', 'bull:' .. queue .. ':wait', id)
  elseif i % 500 == 2 then call('ZADD', 'bull:' .. queue .. ':delayed', (at + 60000) * 4096, id)
  else
    call('HSET', key, 'returnvalue', '{"ok":true}', 'finishedOn', format('%d', at + 500), 'processedOn', format('%d', at + 100))
    call('ZADD', 'bull:' .. queue .. ':completed', at + 500, id)
  end
end"""),
    "users": (250_000, """
for i = first, last do
  call('HSET', 'user:' .. i, 'name', pick(names, i) .. ' ' .. i, 'email', 'user' .. i .. '@example.com', 'city', pick(cities, i * 7), 'created_at', tostring(now - i * 60),
       'status', i % 20 == 0 and 'blocked' or 'active')
end"""),
    "spring": (200_000, """
for i = first, last do
  local id = uuid(i)
  if i % 2 == 0 then
    local key = 'spring:session:sessions:' .. id
    local long = '\\172\\237\\0\\5sr\\0\\14java.lang.Long;\\139\\228\\144\\204\\143#\\223\\2\\0\\1J\\0\\5valuexr\\0\\16java.lang.Number\\134\\172\\149\\29\\11\\148\\224\\139\\2\\0\\0xp\\0\\0\\1'
    call('HSET', key, 'creationTime', long .. 'aaaaa', 'lastAccessedTime', long .. 'bbbbb', 'maxInactiveInterval', '\\172\\237\\0\\5sr\\0\\17java.lang.Integer', 'sessionAttr:user', java('user' .. i))
    call('EXPIRE', key, 86400 + i % 3600)
  else
    call('SET', 'spring:session:sessions:expires:' .. uuid(i - 1), '', 'EX', 86400)
  end
end"""),
    "connect": (200_000, """
for i = first, last do
  call('SET', 'sess:' .. sha('c' .. i):sub(1, 8) .. 'Ab_' .. sha('d' .. i):sub(1, 21), format('{"cookie":{"originalMaxAge":86400000,"path":"/"},"user":%d,"csrf":"%s"}', i % 250000, sha('s' .. i):sub(1, 16)),
       'EX', 86400 + i % 3600)
end"""),
    "rates": (200_000, """
for i = first, last do
  call('SET', format('rate:%d.%d.%d.%d:%d', 10 + i % 5, i % 250, math.floor(i / 250) % 250, i % 7, math.floor(now / 60) - i % 60), i % 100, 'EX', 86400)
end"""),
    "pages": (200_000, """
for i = first, last do
  call('SET', 'cache:page:' .. sha('p' .. i), '<html><body><h1>page ' .. i .. '</h1>' .. string.rep('text ', 20 + i % 30) .. '</body></html>', 'EX', 3600 * 24 + i % 3600)
end"""),
    "carts": (180_000, """
for i = first, last do
  local words = {'HSET', 'cart:' .. i}
  for item = 0, i % 4 do
    words[#words + 1] = 'sku-' .. ((i * 31 + item * 977) % 150000 + 1)
    words[#words + 1] = 1 + (i + item) % 5
  end
  call(unpack(words))
end"""),
    "products": (150_000, """
for i = first, last do
  call('SET', 'product:' .. i, format('{"name":"product %d","price":%d.%02d,"stock":%d,"tags":["%s","%s"],"maker":{"name":"maker %d","country":"%s"}}', i, i % 500, i % 100,
       i * 7 % 300, pick(names, i), pick(cities, i), i % 100, pick({'CH', 'AT', 'DE', 'FR'}, i)))
end"""),
    "results": (100_000, """
for i = first, last do
  local id = uuid(i + 9000000)
  call('SET', 'celery-task-meta-' .. id, format('{"status": "%s", "result": %d, "traceback": null, "children": [], "date_done": "2026-11-29T10:%02d:%02d.000000", "task_id": "%s"}',
       i % 30 == 0 and 'FAILURE' or 'SUCCESS', i, i % 60, i % 60, id), 'EX', 86400)
end"""),
    "java": (80_000, """
for i = first, last do call('SET', java('price:' .. i), java('CHF ' .. i % 500 .. '.00')) end"""),
    "preferences": (60_000, """
for i = first, last do call('HSET', 'pref:user' .. i .. '@example.com', 'newsletter', i % 2, 'lang', pick({'de', 'fr', 'it'}, i)) end"""),
    "tenants": (2_000, """
for i = first, last do
  local key = 'events:' .. i
  for entry = 1, 20 do call('XADD', key, (now - 7200 + entry * 360) * 1000 .. '-' .. i % 3, 'kind', pick({'login', 'logout', 'order'}, entry), 'user', tostring(i * 100 + entry)) end
  if i % 10 == 0 then
    call('XGROUP', 'CREATE', key, 'billing', '0')
    call('XREADGROUP', 'GROUP', 'billing', 'worker', 'COUNT', 5, 'STREAMS', key, '>')
  end
end"""),
    "leaderboards": (60, """
for i = first, last do
  local key = format('leaderboard:daily:2026-%02d-%02d', 10 + math.floor(i / 31), i % 30 + 1)
  for member = 1, 10000 do call('ZADD', key, (member * 7919 + i * 131) % 1000003, tostring((member * 23 + i) % 250000 + 1)) end
end"""),
    "orders": (100, """
for i = first, last do
  for entry = 1, 1000 do call('XADD', 'orders', (now - 7200) * 1000 + ((i - 1) * 1000 + entry) * 72 .. '-0', 'customer', tostring((i * 1000 + entry) % 997), 'total', tostring(entry % 500), 'status', pick({'paid', 'open'}, entry)) end
  for entry = 1, 100 do
    local number = i * 100 + entry
    local job = format('{"class":"%s","args":[%d],"retry":true,"queue":"%s","jid":"%s","created_at":%d.5,"enqueued_at":%d.5}', pick({'MailJob', 'PdfJob'}, number), number, pick({'default', 'low'}, number), sha('j' .. number):sub(1, 24), now - number, now - number)
    call('SADD', 'queues', 'default', 'low')
    call('LPUSH', 'queue:' .. pick({'default', 'low'}, number), job)
    call('ZADD', 'dead', now - number, job)
    call('LPUSH', 'celery', format('{"body": "W10=", "content-encoding": "utf-8", "content-type": "application/json", "headers": {"lang": "py", "task": "app.send", "id": "%s"}, "properties": {"priority": 0, "delivery_tag": "%s"}}', uuid(number), uuid(number + 1)))
  end
end
call('HSET', 'config', 'theme', 'dark', 'lang', 'de', 'limit', '100')
call('SET', 'visits', '1234567')
call('SADD', 'feature:flags', 'new-checkout', 'dark-mode')
call('ZADD', 'leaderboard:all', 10, '1', 20, '2', 30, '3')
pcall(redis.call, 'XGROUP', 'CREATE', 'orders', 'shipping', '0')"""),
    "others": (77_840, """
for i = first, last do
  local a, b = sha('w' .. i % 3000):gsub('%d', ''):sub(1, 9), sha('v' .. i):gsub('%d', ''):sub(1, 7)
  if i % 16 < 14 then call('SET', 'tmp:' .. a .. ':' .. b, i, 'EX', 86400)
  elseif i % 16 == 14 then call('SET', 'flag_' .. b .. '_' .. a, '1')
  else call('HSET', 'lock:' .. pick(queues, i) .. ':' .. a, 'owner', b) end
end"""),
}


def fill(socket_path, keys=WHOLE, report=None):
    """Writes about so many keys. `report`: a function of (kind, seconds)."""
    now = int(time.time())
    with RedisConnection(socket_path, timeout=600) as raw:
        for kind, (part, script) in KINDS.items():
            begun = time.monotonic()
            count = max(part * keys // WHOLE, min(part, 20))
            step = {"leaderboards": 5, "orders": 5, "tenants": 100}.get(kind, STEP)
            sha = raw("SCRIPT", "LOAD", COMMON + script)
            steps = [(first, min(first + step - 1, count)) for first in range(1, count + 1, step)]
            for group in range(0, len(steps), 20):
                for reply in raw.pipeline([("EVALSHA", sha, "0", first, last, now) for first, last in steps[group:group + 20]]):
                    if isinstance(reply, Exception):
                        raise reply
            if report:
                report(kind, time.monotonic() - begun)
        return raw("DBSIZE")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("socket", help="the unix socket of a Redis")
    parser.add_argument("--keys", type=int, default=WHOLE)
    options = parser.parse_args()
    begun = time.monotonic()
    count = fill(options.socket, options.keys, lambda kind, seconds: print(f"{kind}: {seconds:.1f} s", flush=True))
    print(f"{count} keys in {time.monotonic() - begun:.0f} s")


if __name__ == "__main__":
    main()
