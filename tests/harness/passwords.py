"""The client's side of PostgreSQL's password methods: cleartext, md5, SCRAM-SHA-256 (RFC 5802, 7677)."""
import base64
import hashlib
import hmac
import os
import struct

CLEARTEXT, MD5, SASL, SASL_CONTINUE, SASL_FINAL = 3, 5, 10, 11, 12
NO_BINDING = b"n,,"


def md5_verifier(user, password):
    return "md5" + hashlib.md5((password + user).encode()).hexdigest()


def md5_response(user, password, salt):
    return "md5" + hashlib.md5(md5_verifier(user, password)[3:].encode() + salt).hexdigest()


def scram_verifier(password, salt=None, iterations=4096):
    """PostgreSQL's text of a verifier."""
    salt = salt or os.urandom(16)
    salted = hashlib.pbkdf2_hmac("sha256", password.encode(), salt, iterations)
    stored = hashlib.sha256(_keyed(salted, b"Client Key")).digest()
    texts = [base64.b64encode(part).decode() for part in (salt, stored, _keyed(salted, b"Server Key"))]
    return f"SCRAM-SHA-256${iterations}:{texts[0]}${texts[1]}:{texts[2]}"


def _keyed(key, text):
    return hmac.digest(key, text, "sha256")


def attributes(text):
    """{name: value} of a message of SCRAM."""
    return dict((part[:1].decode(), part[2:]) for part in text.split(b","))


class Scram:
    """One exchange. `header` is GS2's, `binding` the data of the channel behind it, `name` the user's, which servers ignore."""

    def __init__(self, password, nonce=None, header=NO_BINDING, binding=b"", name=b""):
        self.password, self.name = password, name
        self.nonce = nonce or base64.b64encode(os.urandom(18))
        self.header, self.binding = header, binding
        self.signature = None  # the server's, which it must send

    def first(self):
        self.bare = b"n=" + self.name + b",r=" + self.nonce
        return self.header + self.bare

    def final(self, challenge):
        fields = attributes(challenge)
        salted = hashlib.pbkdf2_hmac("sha256", self.password.encode(), base64.b64decode(fields["s"]), int(fields["i"]))
        without_proof = b"c=" + base64.b64encode(self.header + self.binding) + b",r=" + fields["r"]
        signed = self.bare + b"," + challenge + b"," + without_proof
        client_key = _keyed(salted, b"Client Key")
        proof = bytes(a ^ b for a, b in zip(client_key, _keyed(hashlib.sha256(client_key).digest(), signed)))
        self.signature = b"v=" + base64.b64encode(_keyed(_keyed(salted, b"Server Key"), signed))
        return without_proof + b",p=" + base64.b64encode(proof)


def initial_response(mechanism, data):
    return mechanism + b"\0" + (struct.pack("!i", -1) if data is None else struct.pack("!i", len(data)) + data)


class PasswordClient:
    """Answers the requests of a server, one after the other. `requests` says which came."""

    def __init__(self, user, password):
        self.user, self.password = user, password or ""
        self.requests = []
        self.scram = Scram(self.password)

    def answer(self, code, data):
        """The body of the message to send, or None."""
        self.requests.append(code)
        if code == CLEARTEXT:
            return self.password.encode() + b"\0"
        if code == MD5:
            return md5_response(self.user, self.password, data).encode() + b"\0"
        if code == SASL:
            return initial_response(b"SCRAM-SHA-256", self.scram.first())
        if code == SASL_CONTINUE:
            return self.scram.final(data)
        if code == SASL_FINAL:
            assert data == self.scram.signature, "the server does not know the password"
            return None
        raise NotImplementedError(f"authentication {code}")
