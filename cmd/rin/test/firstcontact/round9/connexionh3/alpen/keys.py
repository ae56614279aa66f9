"""Signing keys. They are made at start and live in memory."""
import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm

from settings import NODE, PRODUCTION_ISSUER, STAGING_ISSUER


class Key:
    def __init__(self, kid):
        self.kid = kid
        self.private = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self.public = self.private.public_key()

    def jwk(self):
        jwk = RSAAlgorithm.to_jwk(self.public, as_dict=True)
        return {"kty": jwk["kty"], "n": jwk["n"], "e": jwk["e"],
                "use": "sig", "alg": "RS256", "kid": self.kid}


KEYS = {
    PRODUCTION_ISSUER: [Key("alpen-2026-11"), Key("alpen-2026-12")],
    STAGING_ISSUER: [Key("staging-2026-11")],
}
BY_KID = {key.kid: key for keys in KEYS.values() for key in keys}
_turn = 0


def signing_key(issuer):
    """The key to sign with. One node rolls its keys over at every token."""
    global _turn
    keys = KEYS[issuer]
    if NODE == "connexion-rotate":
        _turn += 1
        return keys[_turn % len(keys)]
    return keys[0]


def jwks(issuer):
    return {"keys": [key.jwk() for key in KEYS[issuer]]}


def sign(issuer, claims):
    key = signing_key(issuer)
    return jwt.encode(claims, key.private, algorithm="RS256",
                      headers={"typ": "at+jwt", "kid": key.kid})
