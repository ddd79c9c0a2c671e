"""Other servers than the installed redis-server: the programs of another folder, and a user with the rights that managed services give."""
import os

from harness.processes import temporary_folder

# Commands that managed services refuse to their customers: persistence, replication, the server's configuration and its end (all of them), and
# what single services refuse beside these.
REFUSED = ("acl bgrewriteaof bgsave config debug failover migrate module psync replconf replicaof save shutdown slaveof sync swapdb "
           "client|kill client|pause client|unpause script|flush script|kill function|flush function|kill function|restore wait waitaof monitor "
           "latency slowlog|reset cluster|addslots cluster|delslots cluster|failover cluster|forget cluster|meet cluster|replicate cluster|reset "
           "cluster|setslot").split()


def use(folder):
    """From now on `redis-server` and its kin are those of the folder, whatever their names begin with."""
    links = temporary_folder()
    for program in ("server", "cli", "benchmark", "check-aof", "check-rdb", "sentinel"):
        for name in (f"valkey-{program}", f"redis-{program}"):
            path = os.path.join(os.path.abspath(folder), name)
            if os.path.exists(path) and not os.path.lexists(f"{links}/redis-{program}"):
                os.symlink(path, f"{links}/redis-{program}")
    if not os.path.lexists(f"{links}/redis-server"):
        raise SystemExit(f"{folder} has neither redis-server nor valkey-server")
    os.environ["PATH"] = f"{links}:{os.environ['PATH']}"


def managed_rule(known):
    """The words of an ACL SETUSER command for such a user. `known`: the names of the commands that the server has."""
    refused = [f"-{one}" for one in REFUSED if one.split("|")[0] in known]
    return ["ACL", "SETUSER", "redquel", "on", ">managed", "~*", "&*", "+@all", *refused]
