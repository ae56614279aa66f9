import os

NODE = os.environ.get("NODE") or "tp-base"
