import os

NAME = os.environ.get("NODE", "")


def ist(wort):
    return NAME == "eve-" + wort
