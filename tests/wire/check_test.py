"""`redquel check`: what it finds in a Redis that works, and in ones that do not."""
import json
import os
import re
import subprocess

from harness.certificates import Authority
from harness.passwords import scram_verifier
from harness.processes import temporary_folder
from harness.roles import add_role
from harness.sentinels import Group
from harness.servers import sanitizer_environment


def check(build, url, *words):
    return subprocess.run([os.path.join(build, "redquel"), "check", "--redis", url, *words], capture_output=True, text=True, timeout=60, check=False)


def findings(build, url):
    """The exit code, then errors and warnings as texts."""
    ended = check(build, url, "--json")
    found = json.loads(ended.stdout)
    return ended.returncode, [entry["message"] for entry in found["errors"]], [entry["message"] for entry in found["warnings"]]


def test_a_redis_that_works(build, make_redis, make_server):
    redis = make_redis("--appendonly", "yes")
    server = make_server(redis=redis)
    with server.connect() as connection:
        connection.run("CREATE DATABASE checked")
        connection.run("CREATE TABLE t (id int PRIMARY KEY)")
    code, errors, warnings = findings(build, redis.url)
    assert (code, errors) == (0, []) and len(warnings) == 1 and "no role has a password" in warnings[0], (code, errors, warnings)
    add_role(redis, "postgres", scram_verifier("secret"))
    with redis.connect() as stored:
        before = stored("DBSIZE")
        ended = check(build, redis.url)
        assert (ended.returncode, ended.stdout, ended.stderr) == (0, "0 errors, 0 warnings\n", ""), ended
        assert stored("DBSIZE") == before


def test_check_counts_the_logical_databases(build, make_redis, make_server):
    redis = make_redis("--appendonly", "yes", "--databases", "5")
    server = make_server(redis=redis)
    warnings = []
    with server.connect() as connection:
        for number in range(4):
            connection.run(f"CREATE DATABASE number_{number}")
            code, errors, found = findings(build, redis.url)
            assert (code, errors) == (0, []), (code, errors)
            warnings.append([warning.split(" are used")[0] for warning in found if "logical databases" in warning])
        failure = connection.run_error("CREATE DATABASE one_more")
    assert warnings == [[], ["3 of 5 logical databases"], ["4 of 5 logical databases"], ["5 of 5 logical databases"]], warnings
    assert failure["C"] == "53100" and "Redis has 5 logical databases." in failure["H"], failure


def test_settings_of_redis(build, make_redis, make_server):
    redis = make_redis("--maxmemory", "100mb", "--maxmemory-policy", "noeviction")
    make_server(redis=redis).connect().close()
    code, errors, warnings = findings(build, redis.url)
    assert (code, errors) == (0, []) and any("appendonly is off" in warning for warning in warnings), (errors, warnings)
    with redis.connect() as stored:
        used = int(next(line for line in stored("INFO", "memory").splitlines() if line.startswith("used_memory:")).split(":")[1])
        stored("CONFIG", "SET", "maxmemory", str(int(used * 1.05)))
        assert any("at its limit it refuses writes" in warning for warning in findings(build, redis.url)[2])
        stored("CONFIG", "SET", "maxmemory", "0")
        stored("CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
        code, errors, _ = findings(build, redis.url)
        assert code == 1 and "maxmemory-policy is allkeys-lru" in errors[0], errors


def test_settings_for_replicas(build, make_redis, make_server):
    """What a failover loses, as far as the settings of the master decide it."""
    group = Group(make_redis, replicas=1, sentinels=0)
    master = group.nodes[0]
    make_server(redis=master).connect().close()

    def lacks(words):
        return any(words in warning for warning in findings(build, master.url)[2])

    assert lacks("min-replicas-to-write is 0")
    with master.connect() as stored:
        is_durable = stored("CONFIG", "GET", "appendonly")[1] == "yes"
        assert lacks("its replicas take over") == (not is_durable)
        stored("CONFIG", "SET", "appendonly", "no" if is_durable else "yes")
        assert lacks("its replicas take over") == is_durable
        stored("CONFIG", "SET", "min-replicas-to-write", "1")
        assert not lacks("min-replicas-to-write")


def test_stored_definitions(build, make_redis, make_server):
    redis = make_redis()
    code, errors, warnings = findings(build, redis.url)
    assert (code, errors) == (0, []) and any("redquel:roles does not exist" in warning for warning in warnings), (code, errors, warnings)
    server = make_server(redis=redis)
    with server.connect() as connection:
        connection.run("CREATE DATABASE damaged")
    with server.connect(database="damaged") as connection:
        connection.run("CREATE TABLE t (id int PRIMARY KEY)")
    with redis.connect() as stored:
        number = stored("HGET", "redquel:databases", "damaged")
        stored("SELECT", number)
        stored("SET", "redquel:format", "99")
    code, errors, _ = findings(build, redis.url)
    assert code == 1 and len(errors) == 1 and errors[0].startswith(f'database "damaged" (number {number}): '), errors


def test_a_login_that_lacks_rights(build, make_redis, make_server):
    redis = make_redis()
    make_server(redis=redis).connect().close()
    with redis.connect() as stored:
        stored("ACL", "SETUSER", "limited", "on", ">word", "~*", "&*", "+@all", "-evalsha")
    code, errors, _ = findings(build, redis.url.replace("unix://", "unix://limited:word@"))
    assert code == 1 and any("+evalsha" in error for error in errors), errors


def test_a_redis_that_does_not_answer(build, make_redis):
    redis = make_redis()
    url = redis.url
    redis.stop()
    ended = check(build, url)
    assert ended.returncode == 1 and ended.stdout.startswith("ERROR: ") and ended.stdout.endswith("1 error, 0 warnings\n"), ended


def check_configuration(build, text, *words):
    """The exit code, errors and warnings of a configuration."""
    folder = temporary_folder()
    with open(f"{folder}/redquel.toml", "w", encoding="utf-8") as file:
        file.write(text)
    ended = subprocess.run([os.path.join(build, "redquel"), "check", "--config", f"{folder}/redquel.toml", "--json", *words],
                           capture_output=True, text=True, timeout=60, check=False, env={**os.environ, **sanitizer_environment()})
    found = json.loads(ended.stdout)
    return ended.returncode, [entry["message"] for entry in found["errors"]], [entry["message"] for entry in found["warnings"]]


def test_a_configuration_and_its_redis(build, make_redis):
    redis = make_redis("--appendonly", "yes")
    authority = Authority()

    def found(text, certificate=None):
        tls = f"[tls]\ncertificate = '{certificate.certificate}'\nkey = '{certificate.key}'\n" if certificate else ""
        return check_configuration(build, f"[redis]\nurl = '{redis.url}'\n{tls}{text}")

    code, errors, warnings = found("", authority.issue(days=40))
    assert (code, errors) == (0, []) and ["redquel:roles does not exist" in one for one in warnings] == [True], warnings
    code, errors, warnings = found("[limits]\nmemory = '1000GB'\n", authority.issue(days=20))
    assert (code, errors) == (0, []), errors
    assert any(re.search("expires in (19|20) days", one) for one in warnings) and any("limits.memory is" in one for one in warnings), warnings
    code, errors, _ = found("", authority.issue(days=-1))
    assert code == 1 and any("has expired" in one for one in errors), errors
    code, errors, _ = found("[authentication]\nrules = 'host all all 127.0.0.1/32 nothing'\n")
    assert code == 1 and any("nothing" in one for one in errors), errors
    code, errors, _ = found("[limits]\nnothing = 1\n")
    assert code == 1 and any("limits.nothing" in one for one in errors), errors


def test_a_redis_of_its_own_that_does_not_run(build):
    code, errors, warnings = check_configuration(build, f"[embedded]\nenabled = true\ndata_dir = '{temporary_folder()}'\n")
    assert (code, errors) == (0, []) and any("does not run" in one for one in warnings), (errors, warnings)
