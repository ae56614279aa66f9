"""Entry point of the node: Django + django-tastypie behind waitress."""
import os
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import django
from django.conf import settings

PORT = int(os.environ.get("PORT", "8000"))
STATE = tempfile.mkdtemp(prefix="tpnode-")

settings.configure(
    DEBUG=False,
    SECRET_KEY=os.urandom(24).hex(),
    ALLOWED_HOSTS=["*"],
    ROOT_URLCONF="fund.urls",
    INSTALLED_APPS=["django.contrib.auth", "django.contrib.contenttypes", "oauth2_provider", "tastypie", "fund"],
    MIGRATION_MODULES={a: None for a in ("auth", "contenttypes", "oauth2_provider", "tastypie", "fund")},
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": os.path.join(STATE, "node.sqlite3"),
                           "OPTIONS": {"timeout": 20}, "CONN_MAX_AGE": None}},
    MIDDLEWARE=["fund.middleware.EdgeMiddleware", "fund.middleware.Conditions",
                "fund.middleware.StableGZipMiddleware"],
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    APPEND_SLASH=False, USE_TZ=True, TIME_ZONE="UTC",
    TASTYPIE_ALLOW_MISSING_SLASH=True, TASTYPIE_DEFAULT_FORMATS=["json"],
    OAUTH2_PROVIDER={"ACCESS_TOKEN_EXPIRE_SECONDS": 75,
                     "SCOPES": {"funding.read": "read funding calls", "staging": "try the flow"},
                     "DEFAULT_SCOPES": ["funding.read"],
                     "CLIENT_SECRET_HASHER": "fast_pbkdf2",
                     "SCOPES_BACKEND_CLASS": "fund.oauth.AccountScopes",
                     "ALLOWED_GRANT_TYPES": ["client_credentials"]},
    PASSWORD_HASHERS=["fund.oauth.FastPBKDF2"],
    NODE_PORT=PORT,
    LOGGING={"version": 1, "disable_existing_loggers": False,
             "handlers": {"err": {"class": "logging.StreamHandler"}},
             "root": {"handlers": ["err"], "level": "ERROR"}},
)
django.setup()


def main():
    from django.core.management import call_command
    call_command("migrate", run_syncdb=True, verbosity=0)
    from django.db import connection
    with connection.cursor() as c:
        c.execute("PRAGMA journal_mode=WAL")
        c.execute("PRAGMA synchronous=OFF")
    from fund import data
    data.load()
    from django.core.wsgi import get_wsgi_application
    from waitress import serve
    try:
        serve(get_wsgi_application(), host="127.0.0.1", port=PORT, threads=8, ident=None, channel_timeout=60)
    finally:
        import shutil
        shutil.rmtree(STATE, ignore_errors=True)


if __name__ == "__main__":
    main()
