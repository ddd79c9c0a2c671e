"""Every program by which statements change rows, as redquel has sent it: run a second time (its answer was lost), and stopped in front of each of
its steps. Nothing is ever half done."""
import os
import re

from harness.resp import RedisError
from harness.stored_data import commands_of

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAMS = ("write", "write_many")
# What stops a program: a guard, and behind the first guards an effect on a key of another type. Both keys are always there.
STOPPED_GUARD, STOPPED_EFFECT = ["absent", "redquel:version"], ["score+", "redquel:version", "1", "1"]

SCHEMA = """
    CREATE TABLE emp (id int PRIMARY KEY, name text, dept int, mail text UNIQUE, n int NOT NULL DEFAULT 0);
    CREATE INDEX ON emp (dept); CREATE INDEX ON emp (name); CREATE INDEX ON emp USING zset (dept, n);
    CREATE TABLE own (id serial PRIMARY KEY, v int); CREATE INDEX ON own (v);
    CREATE TABLE child (id int PRIMARY KEY, parent int REFERENCES emp ON DELETE CASCADE, mail text REFERENCES emp (mail));
    CREATE TABLE brief (id int PRIMARY KEY, v int) WITH (ttl = '1 hour'); CREATE INDEX ON brief (v);
    CREATE TABLE keyless (a int, b text); CREATE TABLE doubled (id int PRIMARY KEY, v int);
    CREATE FOREIGN TABLE app (id int, name text, place text) SERVER redis OPTIONS (key 'app:{id}', layout 'hash');
    INSERT INTO emp SELECT g, 'n' || g, g % 3, 'm' || g, 0 FROM generate_series(1, 200) g;
    INSERT INTO child SELECT g, g, 'm' || g FROM generate_series(1, 40) g; INSERT INTO brief VALUES (1, 1), (2, 2);
    INSERT INTO keyless SELECT g * 7, 'b' FROM generate_series(1, 30) g; INSERT INTO doubled VALUES (1, 1);
    INSERT INTO app VALUES (1, 'one', 'here'), (2, 'two', 'there')"""

STATEMENTS = """
    INSERT INTO emp VALUES (301, 'a', 1, 'x301')
    INSERT INTO emp SELECT g, 'n', NULL, 'x' || g FROM generate_series(302, 340) g
    INSERT INTO own (v) VALUES (1)
    INSERT INTO own (v) SELECT g % 3 FROM generate_series(1, 30) g
    INSERT INTO emp VALUES (1, 'z', 1, 'z'), (341, 'a', 1, 'x341') ON CONFLICT DO NOTHING
    INSERT INTO emp VALUES (1, 'z', 1, 'z') ON CONFLICT (id) DO UPDATE SET n = emp.n + 1
    INSERT INTO child VALUES (50, 50, 'm50')
    UPDATE emp SET dept = 2 WHERE id = 4
    UPDATE emp SET dept = NULL WHERE id = 5
    UPDATE emp SET n = n + 1 WHERE id = 6
    UPDATE emp SET dept = dept + 1 WHERE id = 7
    UPDATE emp SET mail = 'other' WHERE id = 150
    UPDATE emp SET name = name || '!', dept = dept + 1 WHERE id BETWEEN 60 AND 110
    UPDATE emp SET id = id + 1000 WHERE id BETWEEN 160 AND 162
    UPDATE emp SET mail = CASE id WHEN 170 THEN 'm171' ELSE 'm170' END WHERE id IN (170, 171)
    UPDATE brief SET v = v + 1 WHERE id = 1
    INSERT INTO brief VALUES (3, 3)
    DELETE FROM brief WHERE id = 2
    DELETE FROM child WHERE id = 30
    DELETE FROM emp WHERE id = 180
    DELETE FROM emp WHERE id BETWEEN 120 AND 140
    DELETE FROM child; DELETE FROM emp WHERE id < 40
    BEGIN; UPDATE emp SET dept = 9 WHERE id = 190; INSERT INTO own (v) VALUES (7); DELETE FROM emp WHERE id = 191; COMMIT
    BEGIN; UPDATE emp SET n = n + 1 WHERE id = 190; UPDATE emp SET n = n + 1 WHERE id = 192; COMMIT
    INSERT INTO app VALUES (3, 'three', 'here')
    UPDATE app SET name = 'uno' WHERE id = 1
    DELETE FROM app WHERE id = 2
    CREATE INDEX ON own (id, v)
    ALTER TABLE keyless ADD PRIMARY KEY (a)
    ALTER TABLE brief ALTER v TYPE text
    REINDEX TABLE doubled"""

ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "a": "\a", "b": "\b"}


def scripts_of(build):
    """The names of the scripts by SHA-1, and their texts."""
    with open(f"{build}/generated/lua_scripts.cc", encoding="utf-8") as file:
        found = re.findall(r'Script\("(\w+)", (?:Script::Text\{)?R"lua\((.*?)\)lua", "(\w{40})"', file.read(), re.S)
    return {sha1: name for name, _, sha1 in found}, [text for _, text, _ in found]


def kinds_of_steps():
    """Phase, number of words and whether the last one is a list, by the name of a step."""
    with open(f"{ROOT}/executor/scripts/steps/write_steps.lua", encoding="utf-8") as file:
        heads = re.findall(r"^--#step (\S+) (guard|effect): (.*)$", file.read(), re.M)
    return {name: (phase, len(words.split()), words.endswith("*")) for name, phase, words in heads}


def steps_of(words, kinds):
    """Phase and words of each step."""
    steps, place = [], 0
    while place < len(words):
        phase, count, has_list = kinds[words[place]]
        end = place + 1 + (1 + int(words[place + 1]) if has_list else count)
        steps.append((phase, words[place:end]))
        place = end
    return steps


def words_of(line):
    """The words of a command that MONITOR shows."""
    def unescaped(text):
        text = re.sub(r"\\(x..|.)", lambda hit: chr(int(hit[1][1:], 16)) if len(hit[1]) == 3 else ESCAPES.get(hit[1], hit[1]), text)
        return text.encode("latin-1").decode("utf-8", "surrogateescape")
    return [unescaped(word) for word in re.findall(r'"((?:[^"\\]|\\.)*)"', line)]


class Replay:
    """Another Redis, where the calls of scripts run again."""

    def __init__(self, make_redis, build):
        self.redis = make_redis().connect()
        self.names, texts = scripts_of(build)
        for text in texts:
            self.redis("SCRIPT", "LOAD", text)
        self.kinds = kinds_of_steps()
        self.programs = self.steps = 0

    def dumps(self):
        keys = sorted(self.redis("KEYS", "*"))
        return dict(zip(keys, self.redis.pipeline([("DUMP", key) for key in keys])))

    def restore(self, state):
        self.redis("FLUSHDB")
        lives = [0 if key.startswith("redquel:") else max(time, 0) for key, _, time in state]  # leases are not renewed here
        for reply in self.redis.pipeline([("RESTORE", key, time, value) for time, (key, value, _) in zip(lives, state)]):
            assert reply == "OK", reply

    def run(self, call):
        try:
            return self.redis(*call)
        except RedisError as error:
            return [str(error)]

    def run_program(self, call):
        """Runs the program, after it was stopped at each of its steps, and once more. Returns the answer of the first run."""
        first_word = 3 + int(call[2])
        head, steps = call[:first_word], steps_of(call[first_word:], self.kinds)
        before = self.dumps()
        for number in range(len(steps) + 1):
            is_behind_guards = any(phase == "effect" for phase, _ in steps[:number])
            stopped = [words for _, words in steps]
            stopped.insert(number, STOPPED_EFFECT if is_behind_guards else STOPPED_GUARD)
            answer = self.run([*head, *(word for words in stopped for word in words)])
            assert answer[0] in ("stop", "found") or "WRONGTYPE" in answer[0], (answer, stopped)
            assert self.dumps() == before, stopped
        self.programs += 1
        self.steps += len(steps)
        answer = self.run(call)
        state, after = state_of(self.redis), self.dumps()
        if answer[0] == "applied":
            again = self.run(call)
            assert again[0] in ("applied", "stop", "found"), (again, steps)
            if again[0] != "applied":
                assert self.dumps() == after, steps
            has_token = steps[0][1][0] == "token"
            assert not has_token or again[:2] == ["stop", 1], (again, steps)
            self.restore(state)
        else:
            assert after == before or any(words[0] == "lock" for _, words in steps), (answer, steps)
        return answer


def state_of(redis):
    """All keys as they are stored, with their time to live."""
    found = [(key, redis("DUMP", key), redis("PTTL", key)) for key in redis.keys()]
    return [one for one in found if one[1] is not None]  # a lease may end


def content_of(redis):
    """What is stored. The moments of expiries differ from run to run, and the order of a hash."""
    stored = {}
    for name, key, *words in commands_of(redis):
        if key.endswith(":zset:%ttl"):
            words = sorted(words[1::2])
        elif name == "HSET":
            words = sorted(zip(words[::2], words[1::2]))
        if name != "PEXPIREAT":
            stored[key] = words
    return stored


def test_programs_of_statements_run_twice_and_stopped_at_each_step(server, redis, make_redis, build):
    replay = Replay(make_redis, build)
    with server.connect() as connection, redis.connect() as raw, redis.connect() as monitor:
        connection.run(SCHEMA)
        raw("ZADD", "doubled:zset", "5", "5")
        monitor("MONITOR")
        for statement in (line.strip() for line in STATEMENTS.strip().split("\n")):
            raw("ECHO", "begins")
            before = state_of(raw)
            connection.run(statement)
            after = content_of(raw)
            raw("ECHO", "ended")
            while '"begins"' not in monitor.next_message():
                pass
            calls = []
            while '"ended"' not in (line := monitor.next_message()):
                words = words_of(line.split("] ", 1)[1])
                if " lua] " not in line and words[0] == "EVALSHA":
                    calls.append(words)
            replay.restore(before)
            programs = replay.programs
            for call in calls:
                if replay.names[call[1]] in PROGRAMS:
                    replay.run_program(call)
                else:
                    replay.run(call)
            assert replay.programs > programs, statement
            found = content_of(replay.redis)
            # A sequence moves by a command of its own.
            assert {key for key in {*found, *after} - {"own:id"} if found.get(key) != after.get(key)} == set(), statement
    print(f"{replay.programs} programs, {replay.steps} steps")
