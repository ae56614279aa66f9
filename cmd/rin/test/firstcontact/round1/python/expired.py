"""Prints an expired token of svc-tirol-library for the node at PORT: same issuer, key and audience, of September 2026."""
import fastapi_node as f

f.time.time = lambda: 1790000000
print(f.sign(f.CLIENTS["svc-tirol-library"], "funding"))
