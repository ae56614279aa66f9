"""Réglages qui viennent de l'environnement."""

import os

NODE = os.environ.get("NODE", "")
PORT = int(os.environ["PORT"])
ORIGINE = f"http://127.0.0.1:{PORT}"
