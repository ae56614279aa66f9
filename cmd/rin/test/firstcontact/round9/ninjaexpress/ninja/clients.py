"""Clients of the two authorization servers (made up for tests)."""
FUNDING, PROJECT = "urn:ris:tirol:funding", "urn:ris:tirol:project"
CLIENTS = [
    dict(id="ris-9f2b61c47d0e4a58b3c1e07a5d6f8c92", secret="Zk7+q/Wv2%3Ram9Ls=Xt4nB~8sYcH1p&DfGj5uEaXo3RiVbQ",
         realm="tirol", audience=FUNDING, role="EXTERNAL_API_CLIENT", affiliation="AFF-004711"),
    dict(id="ris-1c55d8a0b7e94f26a4f03b9e8d7c6150", secret="mN4vT9xQ2rLs8KdW7hYb3GfJ6cPz5AeUtR1oViXw0BnMqH",
         realm="tirol", audience=FUNDING, role=None, affiliation="AFF-000815"),
    dict(id="ris-e7a3904c2f5b4d1898b6c5d4e3f2a101", secret="Hq8sW3eR6tYu1IoP9aSdF4gHjK7lZxC2vBnM5QwErTyUi0",
         realm="tirol", audience=PROJECT, role="EXTERNAL_API_CLIENT", affiliation="AFF-002300"),
    dict(id="ris-5d04b7f6a8c34e9f8123d4c5b6a79880", secret="pL0oKm9IjN8uHbY7vGtF6cRdX5eSzW4aQ3q2w1EsRfTgYh",
         realm="tirol", audience=FUNDING, role="EXTERNAL_API_CLIENT", affiliation="AFF-009001"),
    dict(id="stg-77c0e1d2b3a4495f86a7b8c9d0e1f2a3", secret="gB5nH8jM2kL7pO0iU4yT9rE3wQ6aS1dF5gH8jK2lZ4xCvB",
         realm="staging", audience=FUNDING, role="EXTERNAL_API_CLIENT", affiliation="AFF-TEST-1"),
]
