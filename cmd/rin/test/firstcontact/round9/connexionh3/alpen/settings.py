"""Settings of the node: addresses, clients, variant."""
import os

PORT = int(os.environ.get("PORT", "8080"))
ORIGIN = f"http://127.0.0.1:{PORT}"
NODE = os.environ.get("NODE", "connexion-base")

AUDIENCE = "https://api.alpenforschung.example/ris-synergy"
OTHER_AUDIENCE = "https://api.alpenforschung.example/projects"
LIFETIME = 900

# Keyed by client id. Secrets hold characters that have to be form-encoded for HTTP Basic.
PRODUCTION_CLIENTS = {
    "alp-7Qk2vXn9RtB4mZc8WdLp3HsYf6JgTa1E5uNo0iVr": {
        "secret": "v+9Xc/3kLqT7=bZr2Mw8%Yh5Nd4Gs6Pf1Ja0Ku.Re~Ti-Oo",
        "sub": "service-account-5d0c6f0e-7b1c-4d59-9c58-2f3f4b6f7a11",
        "audience": AUDIENCE, "scopes": ["funding:read", "info:read"],
        "roles": ["EXTERNAL_API_CLIENT"], "affiliation": "aff-1042"},
    "alp-Zt5nBw8KyM3xLq6PvGf1RdJc9ThSa2Ue7Xo4Ni0Q": {
        "secret": "H4pWz8NcKm2TxQv6RyLb9FdGs3JeUa7Xo1Vi5Zt0Bn-Mq",
        "sub": "service-account-0b1f7c1d-92cb-4f54-8d5c-b1b7e2d4a5c6",
        "audience": AUDIENCE, "scopes": ["info:read"], "roles": [], "affiliation": "aff-2077"},
    "alp-Lc9rVd3XhQ7tKz5WbNy1MfPg8JsRa6Te2Uo4Xi0B": {
        "secret": "yT6mJx1RvKc8NpWd4ZqHb7LgFs2QeXa9Uo3Mi5Vt0Rn_Kk",
        "sub": "service-account-3a6de5cf-33b0-44b4-8b59-0c4e1e84d2f0",
        "audience": OTHER_AUDIENCE, "scopes": ["project:read"], "roles": ["PROJECT_CLIENT"],
        "affiliation": "aff-1042"},
    "alp-Wm4kTz7QnXb2VrLc6HyPd9GsJf3RaNe8Uo1Ki5Ta": {
        "secret": "Dk7RwBz2XnTq5LcVy9MhPg4JfSs8QaEe1Uo6Ni3Kt0Zx.Wv",
        "sub": "service-account-e7c0a3b2-7f5a-47a0-a2f4-9d0f9f6c1b33",
        "audience": AUDIENCE, "scopes": ["funding:read", "info:read"],
        "roles": ["EXTERNAL_API_CLIENT"], "affiliation": "aff-3310"},
}
STAGING_CLIENTS = {
    "stg-Pq8vNc2XrKz6TbWm4LyHd9GfJs7RaUe3Xo5Ti1Vn": {
        "secret": "Ga5TzQk9XmWv3RnLb7YcPh2DfJs6KeNa8Uo4Vi1Rt0Bq~Xx",
        "sub": "service-account-5f2f8b44-7b6d-4c1e-8e2b-1cb21ee0f0d7",
        "audience": AUDIENCE, "scopes": ["funding:read", "info:read"],
        "roles": ["EXTERNAL_API_CLIENT"], "affiliation": "aff-1042"},
}
PRODUCTION_ISSUER = f"{ORIGIN}/realms/alpen"
STAGING_ISSUER = f"{ORIGIN}/staging"
