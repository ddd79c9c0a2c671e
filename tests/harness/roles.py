"""Roles written to Redis as docs/data-in-redis.md describes them, and configurations with rules of authentication."""
import json
import os

from harness.processes import temporary_folder


def configured(make_server, redis, authentication, limits="", *options, tables="", delay=0):
    """A redquel with these lines in [authentication] and [limits]. `tables`: further tables of its configuration. `delay`: milliseconds before a
    refusal is told."""
    folder = temporary_folder()
    with open(f"{folder}/redquel.toml", "w", encoding="utf-8") as file:
        file.write(f"[authentication]\ndelay = {delay}\n{authentication}\n[limits]\n{limits}\n{tables}\n")
    return make_server("--config", f"{folder}/redquel.toml", *options, redis=redis)


def add_role(redis, name, verifier=None, members_of=(), **attributes):
    """Makes a role that may log in, or gives one a verifier. Returns its oid."""
    with redis.connect() as connection:
        roles = connection("HGETALL", "redquel:roles")
        oids = {json.loads(value)["name"]: int(field[5:]) for field, value in zip(roles[::2], roles[1::2]) if field.startswith("role:")}
        oid = oids.get(name, 20_000 + len(oids))
        if name not in oids:
            connection("HSET", "redquel:roles", f"role:{oid}", json.dumps({"name": name, "can_login": True, **attributes}))
        for role in members_of:
            connection("HSET", "redquel:roles", f"member:{oids[role]}:{oid}", json.dumps({"grantor": 10}))
        connection("HSET", "redquel:roles", "version", os.urandom(8).hex())
        if verifier:
            connection("HSET", "redquel:verifiers", oid, verifier)
        return oid
