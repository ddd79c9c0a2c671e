"""What goes into the package and beside it: manual pages and completion have every option, dashboard and alerts name metrics that are served."""
import glob
import gzip
import json
import os
import re
import socket
import subprocess
import urllib.request

import yaml

from harness.certificates import Authority
from harness.processes import temporary_folder
from harness.servers import sanitizer_environment
from harness.waiting import wait_for

CONCURRENT = True
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def made_files(server):
    folder = temporary_folder()
    subprocess.run([f"{ROOT}/packaging/make_files", server.binary, folder], check=True, timeout=120, env={**os.environ, **sanitizer_environment()})
    return folder


def help_of(server, *command):
    return subprocess.run([server.binary, *command, "--help"], capture_output=True, text=True, check=True, timeout=60,
                          env={**os.environ, **sanitizer_environment()}).stdout


def test_manual_pages_and_completion_have_every_option(server):
    folder = made_files(server)
    manual = gzip.open(f"{folder}/redquel.1.gz", "rt").read().replace("\\-", "-")
    with open(f"{folder}/redquel.bash") as file:
        completion = file.read()
    with open(f"{folder}/_redquel") as file:
        zsh = file.read()
    with open(f"{folder}/redquel.fish") as file:
        fish = file.read()
    for command in ((), ("look",), ("discover",), ("check",), ("init",), ("health",), ("rebalance",)):
        options = re.findall(r"(?m)^ +(?:-\w,)?(--[a-z-]+)", help_of(server, *command))
        assert len(options) >= 3, (command, options)
        for option in options:
            assert option in manual and option in completion and f"'{option}[" in zsh and f" -l {option[2:]} " in fish, (command, option)
    subprocess.run(["bash", "-n", f"{folder}/redquel.bash"], check=True)
    words = subprocess.run(["bash", "-c", f'. {folder}/redquel.bash; COMP_WORDS=(redquel lo); COMP_CWORD=1; _redquel; echo "${{COMPREPLY[@]}}"'],
                           capture_output=True, text=True, check=True).stdout
    assert words == "look\n", words
    subprocess.run(["zsh", "-n", f"{folder}/_redquel"], check=True)
    offered = subprocess.run(["fish", "--no-config", "-c", f"source {folder}/redquel.fish; complete -C 'redquel lo'; complete -C 'redquel health --l'"],
                             capture_output=True, text=True, check=True, env={**os.environ, "HOME": folder}).stdout
    assert offered.startswith("look\t"), offered


def test_the_manual_of_the_configuration_has_every_key(server):
    folder = made_files(server)
    manual = gzip.open(f"{folder}/redquel.toml.5.gz", "rt").read()
    with open(f"{ROOT}/conf/redquel.toml") as file:
        keys = re.findall(r"(?m)^(?:# )?([a-z_]+) = ", file.read())
    assert len(keys) > 40
    for key in keys:
        assert f".B {key} = " in manual, key


def test_the_configuration_of_the_package_starts_a_server_of_its_own(server, make_server):
    folder = made_files(server)
    with open(f"{folder}/redquel.toml") as file:
        text = file.read()
    assert 'listen = "127.0.0.1:9433"' in text and "enabled = true" in text
    text = text.replace("/var/lib/redquel", f"{folder}/data").replace("127.0.0.1:9433", "127.0.0.1:0")
    with open(f"{folder}/redquel.toml", "w") as file:
        file.write(text)
    packaged = make_server("--config", f"{folder}/redquel.toml", data_dir=f"{folder}/data")
    with packaged.connect() as connection:
        assert connection.run("SELECT 1") == [["1"]]


def test_the_archive_runs_without_an_installed_library(server):
    folder = temporary_folder()
    # Debug symbols, which are large, stay in the file beside it; a sanitizer's own libraries are libraries like others.
    made = subprocess.run([f"{ROOT}/packaging/make_archive", server.binary, folder], check=True, timeout=600, capture_output=True, text=True,
                          cwd=ROOT, env={**os.environ, **sanitizer_environment()}).stdout.strip()
    assert re.fullmatch(r"redquel-\d+\.\d+\.\d+-linux-\w+\.tar\.gz", os.path.basename(made)), made
    subprocess.run(["tar", "-xzf", made, "-C", folder], check=True)
    unpacked = made.removesuffix(".tar.gz")
    # The program by a link from elsewhere, as users put it into their PATH.
    os.symlink(f"{unpacked}/redquel", f"{folder}/linked")
    text = subprocess.run([f"{folder}/linked", "--version"], check=True, capture_output=True, text=True, env={"PATH": "/usr/bin:/bin", **sanitizer_environment()}).stdout
    assert text == subprocess.run([server.binary, "--version"], check=True, capture_output=True, text=True, env={**os.environ, **sanitizer_environment()}).stdout
    libraries = set(os.listdir(f"{unpacked}/lib"))
    for name in libraries:
        needed = re.findall(r"NEEDED +(\S+)", subprocess.run(["objdump", "-p", f"{unpacked}/lib/{name}"], check=True, capture_output=True, text=True).stdout)
        assert set(needed) <= libraries, (name, needed)
    assert {"redquel", "libc6", "libstdc++6", "libssl3"} <= set(os.listdir(f"{unpacked}/licences"))
    for name in os.listdir(f"{unpacked}/licences"):
        assert os.path.getsize(f"{unpacked}/licences/{name}") > 0, name


def test_dashboard_and_alerts_name_metrics_that_are_served(make_redis, make_server):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    folder = temporary_folder()
    with open(f"{folder}/redquel.toml", "w") as file:
        file.write(f'[status]\nlisten = "127.0.0.1:{port}"\n')
    server = make_server("--config", f"{folder}/redquel.toml", redis=make_redis())
    with server.connect() as connection:
        connection.query("SELECT 1; SELECT nothing")

    def read_metrics():
        text = urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=30).read().decode()
        return text if "redquel_redis_memory_used_bytes" in text else None  # Redis is asked after the start

    metrics = wait_for(read_metrics)
    families = dict(re.findall(r"(?m)^# TYPE (\S+) (\S+)", metrics))
    series = {}
    for name, labels in re.findall(r"(?m)^(\w+)(?:\{(.*)\})? \S+$", metrics):
        series.setdefault(name, set()).update(re.findall(r'(\w+)="', labels or ""))
    with open(f"{ROOT}/conf/grafana.json") as file:
        dashboard = json.load(file)
    expressions = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    assert len(dashboard["panels"]) == 12
    with open(f"{ROOT}/conf/alerts.yml") as file:
        expressions += re.findall(r"(?m)^ +expr: (.*)$", file.read())
    for expression in expressions:
        names = re.findall(r"redquel_\w+", expression)
        assert names or expression.startswith("up{"), expression
        for name in names:
            if name == "redquel":
                continue
            family = name if name in families else re.sub(r"_(bucket|count|sum)$", "", name)
            assert family in families, (expression, name)
            assert name == family or families[family] == "histogram", name
    # A label that a panel groups by is one of the family.
    for labels, name in re.findall(r"by \((\w+)\) \((?:rate\()?(redquel_\w+)", " ".join(expressions)):
        assert labels == "instance" or labels in series.get(name, {labels}), (labels, name)  # Prometheus adds the instance
    for result in re.findall(r'redquel_authentications_total\{result="(\w+)"', " ".join(expressions)):
        assert f'result="{result}"' in metrics, result


def test_the_example_configurations_start(make_redis, make_server):
    """Addresses and files are those of the test; every other key of an example stays."""
    authority = Authority()
    server_certificate = authority.issue()
    examples = glob.glob(f"{ROOT}/conf/examples/*.toml")
    assert len(examples) >= 4
    for example in examples:
        folder = temporary_folder()
        with open(example, encoding="utf-8") as file:
            text = file.read()
        for there, here in (("/etc/redquel/server.crt", server_certificate.certificate), ("/etc/redquel/server.key", server_certificate.key),
                            ("/etc/redquel/redis-ca.crt", authority.certificate), ("/etc/redquel/status-token", f"{folder}/token"),
                            ("/var/lib/redquel", f"{folder}/data"), ("127.0.0.1:9433", "127.0.0.1:0")):
            text = text.replace(there, here)
        text = re.sub(r"(?m)^password_file = .*\n", "", text)
        text = re.sub(r"(?m)^synchronous_replicas = .*", "synchronous_replicas = 0", text)  # the Redis of the test has no replica
        with open(f"{folder}/redquel.toml", "w", encoding="utf-8") as file:
            file.write(text)
        place = {"data_dir": f"{folder}/data"} if "[embedded]" in text else {"redis": make_redis()}
        assert make_server("--config", f"{folder}/redquel.toml", **place).alive(), example


def test_the_composition_fits_the_image(server):
    """compose.yaml is read by a parser of YAML, the Dockerfile word by word."""
    with open(f"{ROOT}/Dockerfile", encoding="utf-8") as file:
        image = re.sub(r"\\\n", " ", file.read()).rsplit("\nFROM ", 1)[1]
    with open(f"{ROOT}/compose.yaml", encoding="utf-8") as file:
        composition = yaml.safe_load(file)
    redquel, redis = composition["services"]["redquel"], composition["services"]["redis"]
    exposed = re.search(r"(?m)^EXPOSE (\d+)", image)[1]
    uid = re.search(r"--uid (\d+)", image)[1]
    command = redquel["command"]
    options = dict(zip(command[::2], command[1::2]))
    assert options["--listen"].rpartition(":")[2] == exposed == redquel["ports"][0].rpartition(":")[2]
    known = re.findall(r"(?m)^ +(?:-\w,)?(--[a-z-]+)", help_of(server))
    assert set(options) <= set(known), (options, known)
    assert options["--redis"].startswith("redis://redis:") and "redis" in redquel["depends_on"] and "healthcheck" in redis
    secrets = [f"/run/secrets/{name}" for name in redquel["secrets"]]
    assert options["--pwfile"] in secrets and set(redquel["secrets"]) == set(composition["secrets"])
    assert redquel["read_only"] and f"/run/redquel:uid={uid},gid={uid}" in redquel["tmpfs"]
    assert {one.split(":")[0] for one in redis["volumes"]} == set(composition["volumes"])
    assert re.search(r'(?m)^HEALTHCHECK .*CMD \["redquel", "health"', image) and "status" in image
