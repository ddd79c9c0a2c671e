"""What is measured by many clients for some seconds: a pgbench script, and the ideal Redis commands for the same work.

In `raw` a line is a command, "--" begins a round trip that needs the reply of the one before (bench/tools/raw_redis.cc). `{ROWS}`,
`{HUNDREDTH}` of them, `{DEPARTMENTS}`, `{CITIES}` and `{THEMES}` become this run's numbers in both. `redis_benchmark` is the same work as one
command for redis-benchmark, whose rate then stands for raw Redis in the ratio; `over_tcp` asks a redquel that reaches Redis over TCP, too.
"""
import dataclasses


@dataclasses.dataclass(frozen=True)
class Workload:
    name: str
    sql: str
    raw: str = ""
    clients: tuple = (16,)
    modes: tuple = ("prepared",)
    durabilities: tuple = ("memory",)
    # Issue 5's targets: rate against PostgreSQL's and against raw Redis's, at least.
    against_postgres: float = 0
    against_raw: float = 0
    redis_benchmark: str = ""
    over_tcp: bool = False
    rounds: int = 0  # more than the run's


EMP = "\\set id random(1, {ROWS})\n"
TAG = "\\set t random(1, 200)\n"
FIELDS = "emp_id ename dept city salary hired"
GET = " ".join(f"GET emp:*->{field}" for field in FIELDS.split())
WRITES = ("second", "always")
PADDED = "HGETALL padded:__rand_int__"
MOVE = ("EVAL \"local old = redis.call('HGET', KEYS[1], 'dept') redis.call('HSET', KEYS[1], 'dept', ARGV[1]) redis.call('SREM', "
        "'emp:indices:dept:' .. old, ARGV[2]) redis.call('SADD', 'emp:indices:dept:' .. ARGV[1], ARGV[2]) return 1\" 1 "
        "emp:{{1:{ROWS}}} {{1:{DEPARTMENTS}}} {{1:{ROWS}}}")

ID = "{{1000000000:2000000000}}"

WORKLOADS = [
    Workload("point select", EMP + "SELECT emp_id, ename, dept, city, salary, hired FROM emp WHERE emp_id = :id;",
             "HGETALL emp:{{1:{ROWS}}}", clients=(16, 64), against_postgres=1.3, against_raw=0.6, redis_benchmark=PADDED, over_tcp=True),
    Workload("point select, other protocols", EMP + "SELECT emp_id, ename, dept, city, salary, hired FROM emp WHERE emp_id = :id;",
             "HGETALL emp:{{1:{ROWS}}}", modes=("extended", "simple"), against_postgres=1.6),
    Workload("point select, one client", EMP + "SELECT emp_id, ename, dept, city, salary, hired FROM emp WHERE emp_id = :id;",
             "HGETALL emp:{{1:{ROWS}}}", clients=(1,), against_postgres=1 / 1.6, against_raw=1 / 2.2, redis_benchmark=PADDED, over_tcp=True, rounds=10),
    Workload("IN of 100 keys", "".join(f"\\set k{i} random(1, {{ROWS}})\n" for i in range(100))
             + "SELECT ename, salary FROM emp WHERE emp_id IN (" + ", ".join(f":k{i}" for i in range(100)) + ");",
             "\n".join(f"HMGET emp:{{{{1:{{ROWS}}:{i}}}}} ename salary" for i in range(100)), over_tcp=True),
    Workload("two indexes, AND", "\\set d random(1, {DEPARTMENTS})\n\\set c random(1, {CITIES})\n"
             "SELECT emp_id, ename, dept, city, salary, hired FROM emp WHERE dept = :d AND city = :c;",
             "SINTER emp:indices:dept:{{1:{DEPARTMENTS}}} emp:indices:city:{{1:{CITIES}}}\n--\nHMGET emp:{{*}} " + FIELDS,
             against_postgres=2, against_raw=0.7),
    Workload("three indexes, AND OR NOT", "\\set d random(2, {DEPARTMENTS})\n\\set c random(1, {CITIES})\n"
             "SELECT emp_id, salary FROM emp WHERE (dept = :d OR dept = :d - 1) AND NOT city = :c AND city IN (1, 2, :c);"),
    Workload("count with two conditions", "\\set d random(1, {DEPARTMENTS})\n\\set c random(1, {CITIES})\n"
             "SELECT count(*) FROM emp WHERE dept = :d AND city = :c;",
             "SINTERCARD 2 emp:indices:dept:{{1:{DEPARTMENTS}}} emp:indices:city:{{1:{CITIES}}}", against_postgres=3, against_raw=0.8),
    Workload("top 10 by index", "SELECT emp_id, ename, dept, city, salary, hired FROM emp ORDER BY salary DESC LIMIT 10;",
             f"SORT_RO emp:zset:salary BY nosort DESC LIMIT 0 10 {GET}", against_postgres=0.8, against_raw=0.7),
    Workload("top 10 with a filter", "\\set d random(1, {DEPARTMENTS})\n"
             "SELECT emp_id, ename, salary FROM emp WHERE dept = :d ORDER BY salary DESC LIMIT 10;",
             "SORT_RO emp:indices:dept:{{1:{DEPARTMENTS}}} BY emp:*->salary DESC LIMIT 0 10 GET # GET emp:*->ename GET emp:*->salary"),
    Workload("range of 1 %", "\\set s random(1, 990000)\nSELECT count(*), sum(dept) FROM emp WHERE salary BETWEEN :s AND :s + 10000;",
             "SORT_RO emp:zset:salary BY nosort LIMIT {{1:{ROWS}}} {HUNDREDTH} GET emp:*->dept GET emp:*->salary"),
    Workload("group by count on an index", "SELECT dept, count(*) FROM emp GROUP BY dept;",
             "\n".join(f"SCARD emp:indices:dept:{d}" for d in range(1, 101)), clients=(1,)),
    Workload("join with departments", "\\set d random(1, {DEPARTMENTS})\n"
             "SELECT count(*), min(dname) FROM emp JOIN department USING (dept) WHERE dept IN (:d, 1);",
             "SCARD emp:indices:dept:{{1:{DEPARTMENTS}}}\nSCARD emp:indices:dept:1\nSORT_RO department:zset BY nosort GET # GET department:*->dname",
             clients=(1,)),
    Workload("place of one row", EMP + "SELECT place FROM (SELECT emp_id, rank() OVER (ORDER BY salary DESC) AS place FROM emp) s WHERE emp_id = :id;",
             "ZREVRANK emp:zset:salary {{1:{ROWS}}}", clients=(1, 16), against_raw=1 / 1.5),
    Workload("place of one row, no ties", EMP + "SELECT place FROM (SELECT emp_id, row_number() OVER (ORDER BY salary DESC) AS place FROM emp) s WHERE emp_id = :id;",
             "ZREVRANK emp:zset:salary {{1:{ROWS}}}", clients=(1, 16), against_raw=1 / 1.5),
    Workload("count of better scores", "\\set s random(1, 990000)\nSELECT count(*) FROM emp WHERE salary > :s;",
             "ZCOUNT emp:zset:salary ({{1:990000}} +inf", clients=(1, 16), against_raw=1 / 1.5),
    Workload("page of a leaderboard", "\\set o random(1, {HUNDREDTH})\nSELECT emp_id, salary FROM emp ORDER BY salary DESC LIMIT 10 OFFSET :o;",
             "ZRANGE emp:zset:salary +inf -inf BYSCORE REV LIMIT {{1:{HUNDREDTH}}} 10 WITHSCORES", clients=(1, 16)),
    Workload("leaderboard by a window function",
             "SELECT emp_id, salary, rank() OVER (ORDER BY salary DESC) FROM emp ORDER BY salary DESC LIMIT 10;",
             "ZRANGE emp:zset:salary 0 9 REV WITHSCORES", clients=(1, 16)),
    Workload("tags, self-join", TAG + "SELECT a.book_id FROM tag a JOIN tag b ON a.book_id = b.book_id WHERE a.tag = 'tag' || :t AND b.tag = 'tag1';",
             "SINTER tag:indices:tag:tag{{1:200}} tag:indices:tag:tag1", against_postgres=3),
    Workload("tags, EXISTS", TAG + "SELECT book_id FROM tag a WHERE tag = 'tag' || :t AND NOT EXISTS (SELECT 1 FROM tag b WHERE b.book_id = a.book_id AND b.tag = 'tag1');",
             "SDIFF tag:indices:tag:tag{{1:200}} tag:indices:tag:tag1"),
    Workload("tags, HAVING", TAG + "SELECT book_id FROM tag WHERE tag IN ('tag' || :t, 'tag1', 'tag41') GROUP BY book_id HAVING count(*) >= 3;",
             "SINTER tag:indices:tag:tag{{1:200}} tag:indices:tag:tag1 tag:indices:tag:tag41", against_postgres=3),
    Workload("tags, count", TAG + "SELECT count(*) FROM tag a JOIN tag b ON a.book_id = b.book_id WHERE a.tag = 'tag' || :t AND b.tag = 'tag1';",
             "SINTERCARD 2 tag:indices:tag:tag{{1:200}} tag:indices:tag:tag1", against_postgres=3),
    Workload("books of two tags", TAG + "SELECT k.title FROM book k JOIN tag a ON a.book_id = k.book_id JOIN tag b ON b.book_id = k.book_id "
             "WHERE a.tag = 'tag' || :t AND b.tag = 'tag1';", "SINTER tag:indices:tag:tag{{1:200}} tag:indices:tag:tag1\n--\nHMGET book:{{*}} title", against_postgres=3),
    Workload("products of a theme", "\\set t random(1, {THEMES})\nSELECT p.name, p.price FROM theme_product tp JOIN product p ON p.product_id = tp.product_id WHERE tp.theme_id = :t;",
             "SORT_RO theme_product:indices:theme_id:{{1:{THEMES}}} BY nosort GET # GET product:*->name GET product:*->price", against_postgres=1),
    Workload("insert", "INSERT INTO emp VALUES (nextval('fresh'), 'new', 7, 3, 1000, '2026-01-01');",
             "MULTI\nHSET emp:x{{1:1000000000}} emp_id 1 ename new dept 7 city 3 salary 1000 hired 2026-01-01\nSADD emp:indices:dept:x {{1:1000000000}}\n"
             "SADD emp:indices:city:x {{1:1000000000}}\nZADD emp:zset:x 1000 {{1:1000000000}}\nEXEC", durabilities=WRITES),
    Workload("update of an indexed column", EMP + "\\set d random(1, {DEPARTMENTS})\nUPDATE emp SET dept = :d WHERE emp_id = :id;",
             MOVE, clients=(16, 64), durabilities=WRITES, against_postgres=2, against_raw=0.6, over_tcp=True),
    Workload("insert and delete", "\\set id random(1000000000, 2000000000)\nINSERT INTO emp VALUES (:id, 'new', 7, 3, 1000, '2026-01-01');\n"
             "DELETE FROM emp WHERE emp_id = :id;",
             f"MULTI\nHSET emp:x{ID} emp_id 1 ename new dept 7 city 3 salary 1000 hired 2026-01-01\nSADD emp:indices:dept:x {ID}\n"
             f"SADD emp:indices:city:x {ID}\nZADD emp:zset:x 1000 {ID}\nEXEC\n--\n"
             f"MULTI\nDEL emp:x{ID}\nSREM emp:indices:dept:x {ID}\nSREM emp:indices:city:x {ID}\nZREM emp:zset:x {ID}\nEXEC", durabilities=WRITES),
    Workload("increment", "\\set id random(1, 10000)\nUPDATE counter SET n = n + 1 WHERE id = :id;",
             "HINCRBY counter:{{1:10000}} n 1", durabilities=WRITES, against_postgres=3, against_raw=0.6),
    Workload("increment of one row", "UPDATE counter SET n = n + 1 WHERE id = 1;", "HINCRBY counter:1 n 1", durabilities=WRITES),
]
