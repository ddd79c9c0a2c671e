"""Damage by another program's hands: random commands at the keys of a table, of every type, with hostile values."""

VALUES = ["", "a", "b", "é", "%", ":", "a:b", "%N", "%#", "0", "1", "2", "-0", "007", "1.0", "\0", "x\0y", "*", "junk", "NULL",
          "9223372036854775807",
          "1e400", "x" * 600]
SCORES = ["0", "-1", "1", "2.5", "inf", "1e300", "9007199254740993"]


class Damage:
    """Damages the keys that begin with the prefix. `keys` returns them, `run` runs a command of Redis, `history` keeps
    the commands."""

    def __init__(self, random, prefix, keys, run):
        self.random, self.prefix, self.keys, self.run, self.history = random, prefix, keys, run, []

    def _send(self, *words):
        self.history.append(" ".join(repr(word) for word in words))
        self.run(*words)

    def _elements(self, key, kind):
        command = {"hash": ("HKEYS", key), "set": ("SMEMBERS", key), "zset": ("ZRANGE", key, "0", "-1")}.get(kind)
        return self.run(*command) if command else []

    def _value(self):
        """A hostile value, or one that stands in some key of the table."""
        if self.random.random() < 0.5:
            return self.random.choice(VALUES)
        key = self.random.choice(self.keys() or [self.prefix])
        kind = self.run("TYPE", key)
        found = self.run("HVALS", key) if kind == "hash" else self._elements(key, kind)
        return self.random.choice(found or VALUES)

    def once(self):
        key = self.random.choice(self.keys() or [f"{self.prefix}:zset"])
        if self.random.random() < 0.1:
            names = ["9", "zset", "rowid", "indices:n:%", "007", "%zz", "7:7", "%#" + "a" * 32]
            key = f"{self.prefix}:{self.random.choice(names)}"
        kind = self.run("TYPE", key)
        kinds = {"hash": self._hash, "set": self._set, "zset": self._zset}
        if kind not in kinds or self.random.random() < 0.15:
            return self._whole(key)
        return kinds[kind](key, self._elements(key, kind))

    def _whole(self, key):
        choice = self.random.randrange(6)
        if choice == 0:
            return self._send("DEL", key)
        if choice == 1:
            return self._send("SET", key, self._value())
        if choice == 2:
            self._send("DEL", key)
            others = [("RPUSH", key, "x"), ("SADD", key, self._value()), ("HSET", key, "f", "x"), ("ZADD", key, "1", "x")]
            return self._send(*self.random.choice(others))
        # A row, or a structure, at another place: COPY keeps the slot.
        target = self.random.choice(self.keys() or [key])
        if self.random.random() < 0.5:
            target = f"{self.prefix}:{self.random.choice(['8', '9', '%', 'new', '1:new'])}"
        try:
            return self._send("COPY" if choice < 5 else "RENAME", key, target, *(["REPLACE"] if choice < 5 else []))
        except Exception:  # no such key, or another slot
            return None

    def _hash(self, key, fields):
        field = self.random.choice(fields or ["f"])
        if self.random.random() < 0.3:
            return self._send("HDEL", key, field)
        if self.random.random() < 0.2:
            field = self._value()
        return self._send("HSET", key, field, self._value())

    def _set(self, key, members):
        if members and self.random.random() < 0.5:
            return self._send("SREM", key, self.random.choice(members))
        return self._send("SADD", key, self._value())

    def _zset(self, key, members):
        if members and self.random.random() < 0.4:
            return self._send("ZREM", key, self.random.choice(members))
        member = self.random.choice(members) if members and self.random.random() < 0.4 else self._value()
        return self._send("ZADD", key, self.random.choice(SCORES), member)
