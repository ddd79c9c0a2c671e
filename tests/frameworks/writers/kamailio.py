"""What Kamailio's usrloc writes over db_redis: three phones register at a kamailio that this starts."""
import os
import socket
import subprocess
import sys
import tempfile
import time

CONFIG = """
listen=udp:127.0.0.1:{sip}
mpath="/usr/lib/x86_64-linux-gnu/kamailio/modules/"
log_stderror=yes
debug=1
children=1
loadmodule "sl.so"
loadmodule "tm.so"
loadmodule "pv.so"
loadmodule "textops.so"
loadmodule "db_redis.so"
loadmodule "usrloc.so"
loadmodule "registrar.so"
modparam("db_redis", "schema_path", "/usr/share/kamailio/db_redis/kamailio")
modparam("db_redis", "keys", "version=entry:table_name")
modparam("db_redis", "keys", "location=entry:ruid&usrdom:username,domain&timer:partition,keepalive")
modparam("usrloc", "db_url", "redis://127.0.0.1:{redis}/0")
modparam("usrloc", "db_mode", 1)
modparam("usrloc", "use_domain", 1)
request_route {{
  if (is_method("REGISTER")) {{ save("location"); exit; }}
  sl_send_reply("405", "Method Not Allowed");
}}
"""

REGISTER = ("REGISTER sip:example.com SIP/2.0\r\nVia: SIP/2.0/UDP 127.0.0.1:{port};branch=z9hG4bK{number}\r\nFrom: <sip:{user}@example.com>;tag=t{number}\r\n"
            "To: <sip:{user}@example.com>\r\nCall-ID: call-{number}\r\nCSeq: {cseq} REGISTER\r\nContact: <sip:{user}@10.0.0.{number}:5060>;expires=3600\r\n"
            "User-Agent: Phone 1.0\r\nMax-Forwards: 70\r\nContent-Length: 0\r\n\r\n")


def main(redis):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as phone, tempfile.TemporaryDirectory() as folder:
        phone.bind(("127.0.0.1", 0))
        phone.settimeout(2)
        port = phone.getsockname()[1]
        sip = port + 1 if port < 65000 else port - 1
        config = os.path.join(folder, "kamailio.cfg")
        with open(config, "w", encoding="ascii") as file:
            file.write(CONFIG.format(sip=sip, redis=redis))
        subprocess.run(["redis-cli", "-p", redis, "HSET", "version:entry::location", "table_name", "location", "table_version", "9"], check=True)
        with subprocess.Popen(["kamailio", "-f", config, "-DD", "-E", "-Y", folder, "-P", f"{folder}/pid"]) as kamailio:
            try:
                for number, (user, cseq) in enumerate((("ann", 10), ("ann", 11), ("bob", 12)), 1):
                    message = REGISTER.format(port=port, number=number, user=user, cseq=cseq).encode()
                    for _ in range(20):
                        phone.sendto(message, ("127.0.0.1", sip))
                        try:
                            answer = phone.recv(65536).decode()
                        except (socket.timeout, ConnectionRefusedError):
                            time.sleep(0.2)
                            continue
                        assert answer.startswith("SIP/2.0 200"), answer
                        break
                    else:
                        raise RuntimeError("kamailio does not answer")
            finally:
                kamailio.terminate()


main(sys.argv[-1])
