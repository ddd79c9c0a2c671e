"""Certificates made at test time by the openssl program: an authority, what it signs, and its list of revoked ones."""
import datetime
import os
import ssl
import subprocess

from harness.processes import temporary_folder

SETTINGS = """
[ca]
default_ca = own
[own]
database = {folder}/index.txt
serial = {folder}/serial
crlnumber = {folder}/crlnumber
new_certs_dir = {folder}
certificate = {folder}/ca.crt
private_key = {folder}/ca.key
default_md = sha256
policy = any
unique_subject = no
default_crl_days = 30
[any]
organizationName = optional
commonName = optional
[req]
distinguished_name = name
prompt = no
[name]
CN = {name}
[authority]
basicConstraints = critical, CA:TRUE
"""


def openssl(*words):
    done = subprocess.run(["openssl", *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def stamp(moment):
    return moment.strftime("%Y%m%d%H%M%SZ")


class Certificate:
    def __init__(self, certificate, key):
        self.certificate, self.key = certificate, key


class Authority:
    """A certificate authority with P-256 keys. `certificate` is the file that clients trust."""

    def __init__(self, name="test authority"):
        self.folder = temporary_folder()
        self.config = f"{self.folder}/openssl.cnf"
        self.certificate = f"{self.folder}/ca.crt"
        self.crl = f"{self.folder}/revoked.crl"
        with open(self.config, "w", encoding="utf-8") as file:
            file.write(SETTINGS.format(folder=self.folder, name=name))
        for file_name, text in (("index.txt", ""), ("serial", "1001\n"), ("crlnumber", "01\n")):
            with open(f"{self.folder}/{file_name}", "w", encoding="ascii") as file:
                file.write(text)
        self._make_key(f"{self.folder}/ca.key")
        openssl("req", "-x509", "-new", "-config", self.config, "-extensions", "authority", "-key", f"{self.folder}/ca.key", "-days", "30",
                "-out", self.certificate)
        self._count = 0

    @staticmethod
    def _make_key(path, *options):
        openssl("genpkey", *(options or ("-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256")), "-out", path)
        os.chmod(path, 0o600)

    def issue(self, subject="/CN=localhost", names="DNS:localhost,IP:127.0.0.1", days=30, key_options=(), digest="sha256"):
        """Signs a certificate for these names. `days` below zero: it has expired. `key_options` of `openssl genpkey`."""
        self._count += 1
        base = f"{self.folder}/issued{self._count}"
        self._make_key(f"{base}.key", *key_options)
        openssl("req", "-new", "-utf8", "-config", self.config, "-key", f"{base}.key", "-subj", subject, "-out", f"{base}.csr")
        with open(f"{base}.ext", "w", encoding="ascii") as file:
            file.write(f"subjectAltName = {names}\n" if names else "basicConstraints = CA:FALSE\n")
        now = datetime.datetime.now(datetime.timezone.utc)
        begin = now - datetime.timedelta(days=60)
        openssl("ca", "-batch", "-notext", "-config", self.config, "-in", f"{base}.csr", "-extfile", f"{base}.ext", "-md", digest,
                "-startdate", stamp(begin), "-enddate", stamp(now + datetime.timedelta(days=days)), "-out", f"{base}.crt")
        return Certificate(f"{base}.crt", f"{base}.key")

    def revoke(self, *certificates):
        """Writes the list of revoked certificates, these among them. Returns its file."""
        for one in certificates:
            openssl("ca", "-config", self.config, "-revoke", one.certificate)
        openssl("ca", "-config", self.config, "-gencrl", "-out", self.crl)
        return self.crl

    def trusting(self, client=None, protocol=None, **settings):
        """An ssl.SSLContext of a client that trusts this authority. `protocol`: what it offers by ALPN."""
        context = ssl.create_default_context(cafile=self.certificate)
        if client:
            context.load_cert_chain(client.certificate, client.key)
        if protocol:
            context.set_alpn_protocols([protocol])
        for name, value in settings.items():
            setattr(context, name, value)
        return context
