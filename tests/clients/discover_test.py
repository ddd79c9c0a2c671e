"""redquel discover and IMPORT FOREIGN SCHEMA over keys as applications write them."""
import os
import pty
import re
import subprocess

from harness.pgwire import ServerError
from harness.programs import psql, run

ONE_AT_A_TIME = """
CREATE FOREIGN TABLE book (
  id bigint NOT NULL,
  author text NOT NULL,
  name text NOT NULL
) SERVER redis OPTIONS (layout 'strings', key 'book:{id}:{*}');
CREATE FOREIGN TABLE emp (
  id bigint NOT NULL,
  email text NOT NULL,
  ename text NOT NULL,
  hired timestamptz OPTIONS (format 'unix') NOT NULL,
  salary numeric NOT NULL,
  mgr_id bigint
) SERVER redis OPTIONS (layout 'hash', key 'emp:{id}', counter 'emp:id');
CREATE INDEX ON emp USING set (mgr_id) WITH (key = 'emp:indices:mgr_id:{mgr_id}');
CREATE INDEX ON emp USING lookup (email) WITH (key = 'emp:uniques:email');
CREATE FOREIGN TABLE login (
  id bigint NOT NULL,
  last_login_time date NOT NULL,
  login_times bigint NOT NULL,
  name text NOT NULL
) SERVER redis OPTIONS (layout 'strings', key 'login:{id}:{*}');
CREATE INDEX ON login USING list (last_login_time) WITH (key = 'login:last_login_times');
CREATE INDEX ON login USING zset (login_times) WITH (key = 'login:login_times');
CREATE INDEX ON login USING lookup (name) WITH (key = 'login:{name}:id');
CREATE FOREIGN TABLE loginlog (
  "position" bigint OPTIONS (role 'position') NOT NULL,
  value text OPTIONS (role 'value') NOT NULL
) SERVER redis OPTIONS (layout 'list', key 'loginlog:');
CREATE FOREIGN TABLE online (
  userid bigint OPTIONS (role 'member') NOT NULL
) SERVER redis OPTIONS (layout 'set', key 'online:userid');
CREATE FOREIGN TABLE product (
  id bigint NOT NULL,
  active boolean OPTIONS (format 'bool01') NOT NULL,
  doc jsonb OPTIONS (format 'json') NOT NULL,
  name text NOT NULL,
  price numeric NOT NULL
) SERVER redis OPTIONS (layout 'hash', key 'product:{id}', counter 'product:key');
CREATE FOREIGN TABLE product_list (
  "position" bigint OPTIONS (role 'position') NOT NULL,
  product_id bigint OPTIONS (role 'value') NOT NULL
) SERVER redis OPTIONS (layout 'list', key 'product:list');
CREATE FOREIGN TABLE product_tag (
  product_id bigint OPTIONS (parent 'product') NOT NULL,
  tag text OPTIONS (role 'member') NOT NULL
) SERVER redis OPTIONS (layout 'set', key 'product:{product_id}:tag');
CREATE FOREIGN TABLE tag (
  tag text NOT NULL,
  member bigint OPTIONS (role 'member') NOT NULL
) SERVER redis OPTIONS (layout 'set', key 'tag:{tag}');
CREATE FOREIGN TABLE theme (
  id bigint NOT NULL,
  title text NOT NULL
) SERVER redis OPTIONS (layout 'hash', key 'theme:{id}', counter 'theme:key');
CREATE FOREIGN TABLE theme_product (
  theme_id bigint OPTIONS (parent 'theme') NOT NULL,
  product_id bigint OPTIONS (role 'member') NOT NULL
) SERVER redis OPTIONS (layout 'set', key 'theme:{theme_id}:product');
CREATE FOREIGN TABLE theme_zset (
  theme_id bigint OPTIONS (role 'member', parent 'theme') NOT NULL,
  score double precision OPTIONS (role 'score') NOT NULL
) SERVER redis OPTIONS (layout 'zset', key 'theme:zset');
CREATE FOREIGN TABLE "user" (
  userid bigint NOT NULL,
  mail text,
  username text NOT NULL
) SERVER redis OPTIONS (layout 'strings', key 'user:userid:{userid}:{*}');
CREATE INDEX ON "user" USING lookup (username) WITH (key = 'user:username:{username}:userid');
CREATE VIEW users AS SELECT * FROM "user";
CREATE FOREIGN TABLE user_base (
  userid bigint NOT NULL,
  version bigint NOT NULL,
  "timestamp" bigint NOT NULL,
  username text NOT NULL
) SERVER redis OPTIONS (layout 'strings', key 'sys:user:userid:{userid}:base:{*}:{version}:{timestamp}');
"""


def four_layouts():
    """The layouts of the mapping literature, as applications write them."""
    people = ["king", "blake", "clark", "jones", "scott"]
    yield ("SET", "emp:id", str(len(people)))
    for i, name in enumerate(people, 1):
        fields = ["ename", name, "email", f"{name}@x.org", "salary", f"{1000 * i}.50", "hired", str(1_600_000_000 + i)]
        yield ("HSET", f"emp:{i}", *fields, *(["mgr_id", "1"] if i > 1 else []))
        yield ("HSET", "emp:uniques:email", f"{name}@x.org", str(i))
        yield ("ZADD", "emp:zset", str(i), str(i))
        if i > 1:
            yield ("SADD", "emp:indices:mgr_id:1", str(i))
            yield ("SADD", "emp:indices:mgr_id", "1")
    yield ("SET", "theme:key", "3")
    yield ("SET", "product:key", "9")
    for i in range(1, 4):
        yield ("HSET", f"theme:{i}", "title", f"theme {i}")
        yield ("ZADD", "theme:zset", str(10 * i + 3), str(i))
    for i in range(1, 10):
        yield ("HSET", f"product:{i}", "name", f"p{i}", "price", f"{i}.99", "active", str(i % 2), "doc", '{"size": %d}' % i)
        yield ("SADD", f"theme:{i % 3 + 1}:product", str(i))
        yield ("SADD", f"product:{i}:tag", "new", "red" if i % 2 else "blue")
        yield ("LPUSH", "product:list", str(i))
    for i, name in enumerate(["ken thompson", "dennis ritchie", "brian kernighan"], 1):
        yield ("SET", f"login:{i}:name", name)
        yield ("SET", f"login:{i}:login_times", str(3 * i))
        yield ("SET", f"login:{i}:last_login_time", f"2011-1-{i}")
        yield ("SET", f"login:{name}:id", str(i))
        yield ("ZADD", "login:login_times", str(3 * i), str(i))
        yield ("LPUSH", "login:last_login_times", str(i))
        yield ("SET", f"book:{i}:name", f"book {i}")
        yield ("SET", f"book:{i}:author", name)
    yield ("SADD", "tag:ruby", "1", "2")
    yield ("SADD", "tag:web", "2", "3")
    for i, name in ((888, "edwin"), (889, "ken")):
        yield ("SET", f"user:userid:{i}:username", name)
        yield ("SET", f"user:username:{name}:userid", str(i))
        for version in (1, 2):
            yield ("SET", f"sys:user:userid:{i}:base:username:{version}:{217453 + version}", name)
    yield ("SET", "user:userid:888:mail", "e@x.org")
    yield ("SADD", "online:userid", "888")
    yield ("LPUSH", "loginlog:", "888 came", "889 went")


def noise(count):
    """Keys of other programs, most of them of few forms, some of none."""
    for i in range(count):
        kind = i % 5
        if kind == 0:
            yield ("SET", f"cache:{i * 2654435761 % 2**64:016x}", "x" * 20)
        elif kind == 1:
            yield ("SET", f"noise:{i}", "y")
        elif kind == 2:
            yield ("SADD", f"session:{i}:seen", str(i))
        elif kind == 3:
            yield ("SET", f"w{i * 7919 % 99991:x}q{i}z", "z")
        else:
            yield ("HSET", f"visit:{i}", "at", str(1_700_000_000 + i), "path", f"/p/{i}")


def load(redis, commands):
    batch = []
    with redis.connect() as raw:
        for command in commands:
            batch.append(command)
            if len(batch) == 5000:
                raw.pipeline(batch)
                batch = []
        raw.pipeline(batch)


def discover(build, redis, *options):
    return run([os.path.join(build, "redquel"), "discover", "--redis", redis.url, *options])


def test_a_terminal_shows_how_far_discovery_is(build, make_redis):
    """The bar is drawn on a terminal only, and nothing of it is left at the end."""
    redis = make_redis()
    with redis.connect() as raw:
        for first in range(0, 300_000, 10_000):
            raw.pipeline([("SET", f"session:{number}", "x") for number in range(first, first + 10_000)])
    command = [os.path.join(build, "redquel"), "discover", "--redis", redis.url]
    ours, theirs = pty.openpty()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=theirs, text=True)
    os.close(theirs)
    proposal = process.stdout.read()
    assert process.wait(120) == 0
    shown = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # the terminal has no other side any more
            break
        if not part:
            break
        shown += part
    os.close(ours)
    lines = shown.decode().split("\r")
    bars = [line for line in lines if re.match(r"\[#*\.*\] +\d+ %  [\d,]+ of 300,000 keys", line)]
    assert bars and lines[-1] == "\x1b[K", lines
    assert "300000 keys" in proposal
    assert subprocess.run(command, capture_output=True, check=True).stderr == b""


def statements(text):
    return "".join(line + "\n" for line in text.splitlines() if line and not line.startswith("--"))


def test_four_layouts(build, make_redis):
    redis = make_redis()
    load(redis, four_layouts())
    text = discover(build, redis)
    assert statements(text) == ONE_AT_A_TIME.lstrip(), text
    assert "-- login: 9 keys, for example login:" in text, text
    assert "emp:zset holds the keys of all rows" in text, text


def test_two_hundred_thousand_keys_of_noise(build, make_redis):
    redis = make_redis()
    load(redis, four_layouts())
    load(redis, noise(200_000))
    text, commands = discover_and_look(build, redis)
    check_bounds(commands)
    found = statements(text)
    for table in re.findall(r"CREATE FOREIGN TABLE .*?;\n", ONE_AT_A_TIME, re.S) + re.findall(r"CREATE INDEX .*;\n", ONE_AT_A_TIME):
        assert table in found, (table, found)
    made = set(re.findall(r'CREATE FOREIGN TABLE "?(\w+)', found))
    assert made - set(re.findall(r'CREATE FOREIGN TABLE "?(\w+)', ONE_AT_A_TIME)) <= {"cache", "noise", "session_seen", "visit"}, made


def huge_values(count):
    for first in range(0, count, 1000):
        numbers = range(first, first + 1000)
        yield ("SADD", "huge:set", *(f"m{n}" for n in numbers))
        yield ("HSET", "huge:hash", *(word for n in numbers for word in (f"f{n}", "x")))
        yield ("ZADD", "huge:zset", *(word for n in numbers for word in (str(n), f"m{n}")))
        yield ("RPUSH", "huge:list", *(str(n) for n in numbers))
    for n in range(count // 10):
        yield ("XADD", "huge:stream", f"{n + 1}-0", "n", str(n))
    yield ("SET", "huge:string", "x" * 5_000_000)


def test_every_command_is_bounded(build, make_redis):
    redis = make_redis()
    load(redis, four_layouts())
    load(redis, huge_values(100_000))
    text, commands = discover_and_look(build, redis)
    check_bounds(commands)
    with redis.connect() as raw:
        keys = raw("DBSIZE")
    assert sum(words[0].upper() == "SCAN" for words in commands) <= 1 + keys // 10, commands  # a step has 10 keys at least
    assert "huge" in text


def discover_and_look(build, redis):
    """What it prints, and the commands that Redis got."""
    with redis.connect() as raw:
        raw("CONFIG", "SET", "slowlog-max-len", "1000000", "slowlog-log-slower-than", "0")
        raw("SLOWLOG", "RESET")
    text = discover(build, redis)
    with redis.connect() as raw:
        raw("CONFIG", "SET", "slowlog-log-slower-than", "-1")
        return text, [entry[3] for entry in raw("SLOWLOG", "GET", "-1")]


def check_bounds(commands):
    """No times: what each command may touch. SCAN 1,000 keys, a value's few elements, 4 kB of a string; nothing that reads a value whole."""
    bounds = {"SCAN": 1000, "HRANDFIELD": 64, "SRANDMEMBER": 20, "ZRANGE": 19, "LRANGE": 19, "XRANGE": 10, "GETRANGE": 4095}
    sizes = {"TYPE", "PTTL", "MEMORY", "HSTRLEN", "HLEN", "STRLEN", "SCARD", "ZCARD", "LLEN", "XLEN", "EXISTS"}
    measured = {(words[1], words[2]) for words in commands if words[0].upper() == "HSTRLEN"}
    for words in commands:
        name = words[0].upper()
        if name == "HGET" and (words[1], words[2]) in measured:
            continue  # a field of up to 4 kB
        if name in bounds:
            numbers = [int(word) for word in words[2:] if word.isdigit()]
            assert all(number <= bounds[name] for number in numbers), words
        elif name not in sizes:  # about the connection, or redquel's own definitions
            assert not any(word.split(":")[0] in ("huge", "theme", "login", "emp") for word in words[1:]) and name not in ("KEYS", "DBSIZE", "SORT"), words


def test_options(build, make_redis):
    redis = make_redis()
    load(redis, four_layouts())
    text = discover(build, redis, "--pattern", "tag:*", "--schema", "old app", "--sample", "1")
    assert statements(text).startswith('CREATE FOREIGN TABLE "old app".tag ('), text
    assert statements(discover(build, redis, "--pattern", "online")).startswith("CREATE FOREIGN TABLE online ("), text
    binary = os.path.join(build, "redquel")
    for words, message in ((["--redis", "nonsense"], "redquel: "), ([], "--redis is required"), (["--redis", redis.url, "--sample", "0"], "--sample")):
        done = run([binary, "discover", *words], check=False)
        assert done.returncode != 0 and message in done.stderr, (words, done)
    assert "0 keys, 0 tables" in discover(build, make_redis())


def test_the_password_of_redis(build, make_redis):
    redis = make_redis("--requirepass", "not shown")
    with redis.connect() as raw:
        raw("AUTH", "not shown")
        raw("SADD", "online", "1", "2", "3")
    binary = os.path.join(build, "redquel")
    with_password = f"unix://:not%20shown@{redis.socket_path}"
    assert "online" in run([binary, "discover", "--redis", with_password])
    assert "online" in run([binary, "discover", "--redis", redis.url], env={"REDQUEL_REDIS_PASSWORD": "not shown"})
    assert "online" in run([binary, "discover", "--redis", f"unix://:wrong@{redis.socket_path}"], env={"REDQUEL_REDIS_PASSWORD": "not shown"})
    for url, environment in ((redis.url, {}), (f"unix://:wrong@{redis.socket_path}", {}), (redis.url, {"REDQUEL_REDIS_PASSWORD": "guessed"})):
        done = run([binary, "discover", "--redis", url], check=False, env=environment)
        assert done.returncode == 1 and done.stderr.startswith("redquel: ") and done.stdout == "", done
        assert "wrong" not in done.stderr and "guessed" not in done.stderr, done.stderr


def test_own_tables_are_left_out(build, server, redis):
    psql(server, "CREATE TABLE managed (id serial PRIMARY KEY, name text UNIQUE); INSERT INTO managed (name) VALUES ('a'), ('b');")
    load(redis, [("HSET", "other:1", "a", "1"), ("SET", b"\xffredquel:fence:1:0", "1")])  # a fence of tables in memory
    text = discover(build, redis)
    assert "managed" not in text and "redquel" not in text and "other:{id}" in text, text
    psql(server, "DROP TABLE managed")


def test_import_is_checked(server, redis):
    load(redis, [("HSET", "other:1", "a", "1")])
    with server.connect() as connection:
        for sql, state in (('IMPORT FOREIGN SCHEMA "*" FROM SERVER elsewhere INTO public', "42704"),
                           ('IMPORT FOREIGN SCHEMA "*" FROM SERVER redis INTO nowhere', "3F000"),
                           ("IMPORT FOREIGN SCHEMA \"*\" FROM SERVER redis INTO public OPTIONS (colour 'red')", "HV00D"),
                           ("IMPORT FOREIGN SCHEMA \"*\" FROM SERVER redis INTO public OPTIONS (sample '0')", "22023")):
            try:
                connection.run(sql)
                raise AssertionError(sql)
            except ServerError as error:
                assert error.sqlstate == state, (sql, error.fields)
        connection.run('IMPORT FOREIGN SCHEMA "nothing:*" FROM SERVER redis INTO public')
