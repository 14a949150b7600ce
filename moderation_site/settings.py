"""All settings, from the environment (12-factor). `.env.example` explains every key.

Outside development and tests nothing has a usable default that would be unsafe: a missing secret,
a placeholder or DEBUG refuses to start with a sentence.
"""

import os
import tempfile
from pathlib import Path
from urllib.parse import unquote

import environ
from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured
from django.utils.translation import gettext_lazy as _
from kombu import Queue

BASE_DIR = Path(__file__).resolve().parent.parent
env = environ.Env()
if (BASE_DIR / ".env").is_file():
    env.read_env(BASE_DIR / ".env")

# --- Which kind of installation this is ----------------------------------------------------------

ENVIRONMENT = env.str("ENVIRONMENT", "production")
if ENVIRONMENT not in {"development", "test", "production"}:
    raise ImproperlyConfigured(
        f"ENVIRONMENT is {ENVIRONMENT!r}; set it to development, test or production."
    )
PRODUCTION = ENVIRONMENT == "production"
FAILPOINTS_ALLOWED = ENVIRONMENT == "test"  # see reports/failpoints.py
PLACEHOLDER = "placeholder"  # what .env.example writes where a secret belongs


def required(key: str, *, development: str) -> str:
    """A value that production must be given; development and tests have one of their own."""
    value: str = env.str(key, "" if PRODUCTION else development)
    if not value:
        raise ImproperlyConfigured(f"{key} is not set. See .env.example for what it means.")
    if PRODUCTION and PLACEHOLDER in value.lower():
        raise ImproperlyConfigured(f"{key} still holds the placeholder of .env.example.")
    return value


def secret(key: str, *, development: str) -> str:
    """A secret of at least 32 characters outside development and tests."""
    value = required(key, development=development)
    if PRODUCTION and len(value) < 32:
        raise ImproperlyConfigured(
            f"{key} has {len(value)} characters; a secret needs at least 32. Make one with: "
            "python3 -c 'import secrets; print(secrets.token_urlsafe(48))'"
        )
    return value


SECRET_KEY = secret("SECRET_KEY", development="development-only-key-never-used-in-production")
# Keys the pseudonyms of reporters and the fingerprints of request bodies. It outlives SECRET_KEY:
# a new one makes known reporters look new and every retried request look like another body.
EVIDENCE_KEY = secret(
    "EVIDENCE_KEY", development="development-only-evidence-key-never-in-production"
)

DEBUG = env.bool("DEBUG", False)
if PRODUCTION and DEBUG:
    raise ImproperlyConfigured(
        "DEBUG is on in production: it shows reports to strangers. Unset it."
    )
if PRODUCTION:
    ALLOWED_HOSTS = [h for h in required("ALLOWED_HOSTS", development="").split(",") if h]
else:
    ALLOWED_HOSTS = env.list(
        "ALLOWED_HOSTS", default=["localhost", "127.0.0.1", "[::1]", "testserver"]
    )
CSRF_TRUSTED_ORIGINS = env.list("CSRF_TRUSTED_ORIGINS", default=[])

# --- Applications ----------------------------------------------------------------------------------

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "csp",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "reports",
    "classifier",
    "reviews",
]

MIDDLEWARE = [
    "moderation_site.probes.answer_probes",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]

ROOT_URLCONF = "moderation_site.urls"
WSGI_APPLICATION = "moderation_site.wsgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]

# --- PostgreSQL: owns all state -------------------------------------------------------------------

DATABASES = {
    "default": environ.Env.db_url_config(
        required("DATABASE_URL", development="postgres:///moderation")
    )
}
_database = DATABASES["default"]
_database["HOST"] = unquote(
    str(_database.get("HOST", ""))
)  # a socket directory stands percent-encoded
# Threads of a worker share a pool; a web process keeps one connection a thread. Connections are
# checked before use, because a restarted database otherwise fails the first request of each.
_database["CONN_HEALTH_CHECKS"] = True
# Who waits longer for a row is told so (the API answers 503), and a transaction that somebody left
# open does not hold an item for ever.
_database.setdefault("OPTIONS", {}).setdefault(
    "options", "-c lock_timeout=10s -c idle_in_transaction_session_timeout=60s"
)
DATABASE_POOL_SIZE = env.int("DATABASE_POOL_SIZE", 0)
if DATABASE_POOL_SIZE:
    _database["CONN_MAX_AGE"] = 0
    _database.setdefault("OPTIONS", {})["pool"] = {
        "min_size": 1,
        "max_size": DATABASE_POOL_SIZE,
        "timeout": 10,
    }
else:
    _database["CONN_MAX_AGE"] = env.int("CONN_MAX_AGE", 60)
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

SEARCH_SECONDS = env.float("SEARCH_SECONDS", 5.0)  # a reviewer's search in texts is stopped then

# --- Time, language, files ------------------------------------------------------------------------

USE_TZ = True
TIME_ZONE = "UTC"
LANGUAGE_CODE = "en"
LANGUAGES = [("en", _("English")), ("ar", _("Arabic"))]
LOCALE_PATHS = [BASE_DIR / "locale"]
FORMAT_MODULE_PATH = "moderation_site.formats"

STATIC_URL = "static/"
STATIC_ROOT = BASE_DIR / "static"
WHITENOISE_USE_FINDERS = (
    WHITENOISE_AUTOREFRESH
) = not PRODUCTION  # production serves collectstatic's files
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"
        if PRODUCTION
        else "django.contrib.staticfiles.storage.StaticFilesStorage"
    },
}

# Throttles count in the process: intake must not wait for Redis.
CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}

# --- Browser security -----------------------------------------------------------------------------

# Nothing inline, nothing foreign. `data:` images are the arrows of the API browser's style sheet.
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "img-src": [SELF, "data:"],
        "object-src": [NONE],
        "base-uri": [NONE],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
    }
}
X_FRAME_OPTIONS = "DENY"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = PRODUCTION
SECURE_SSL_REDIRECT = PRODUCTION and env.bool("SECURE_SSL_REDIRECT", True)
SECURE_HSTS_SECONDS = 31_536_000 if PRODUCTION else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = PRODUCTION
SECURE_HSTS_PRELOAD = PRODUCTION
if env.bool("BEHIND_TLS_PROXY", False):
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")

AUTHENTICATION_BACKENDS = ["reviews.sessions.DeskBackend"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
    )
]
LOGIN_URL = LOGOUT_REDIRECT_URL = "login"
LOGIN_REDIRECT_URL = "review-home"

if ENVIRONMENT == "test":
    # Tests log in hundreds of times, and there is nothing to guess.
    PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]

# --- The senders' API -----------------------------------------------------------------------------

INTAKE_RATE = env.str("INTAKE_RATE", "6000/min")
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["reports.api.authentication.ApiKeyAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_THROTTLE_CLASSES": ["reports.api.throttling.SenderThrottle"],
    "DEFAULT_THROTTLE_RATES": {"sender": INTAKE_RATE},
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["reports.api.parsing.StrictJSONParser"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "reports.api.problems.problem_response",
    "UNAUTHENTICATED_USER": None,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Moderation reports",
    "DESCRIPTION": "Send reports of content, read what became of them. Every error is "
    "`application/problem+json` (RFC 9457).",
    "VERSION": "1.0.0",
    "OAS_VERSION": "3.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_PERMISSIONS": ["rest_framework.permissions.AllowAny"],
    "SERVE_AUTHENTICATION": [],
    "SCHEMA_PATH_PREFIX": "/api/v1",
    # Without the badge that would send the document to a validator on the internet.
    "SWAGGER_UI_SETTINGS": {"deepLinking": True, "validatorUrl": None},
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "ENUM_NAME_OVERRIDES": {"ReportStatus": "reports.models.Report.Status"},
}

# --- The model ------------------------------------------------------------------------------------

OPENAI_BASE_URL = required("OPENAI_BASE_URL", development="http://127.0.0.1:9/v1")
OPENAI_API_KEY = required("OPENAI_API_KEY", development="stand-in")
MODEL = required("MODEL", development="stand-in-not-a-model")
# A provider may answer in the name of a snapshot: asked name -> names that are the same model.
MODEL_ALIASES: dict[str, set[str]] = {}
for _pair in env.list("MODEL_ALIASES", default=[]):
    _asked, _, _served = _pair.partition("=")
    if not _asked.strip() or not _served.strip():
        raise ImproperlyConfigured(
            f"MODEL_ALIASES holds {_pair!r}; write asked=served, several separated by commas."
        )
    MODEL_ALIASES.setdefault(_asked.strip(), set()).add(_served.strip())

# model deadline < lease < visibility timeout, each with room for the step it encloses.
MODEL_DEADLINE_SECONDS = env.float("MODEL_DEADLINE_SECONDS", 60.0)  # the whole call, not a read
RECORDING_SECONDS = env.float(
    "RECORDING_SECONDS", 30.0
)  # how long a verdict is tried to be written
LEASE_SECONDS = MODEL_DEADLINE_SECONDS + RECORDING_SECONDS
VISIBILITY_TIMEOUT_SECONDS = env.int("VISIBILITY_TIMEOUT_SECONDS", int(LEASE_SECONDS * 2) + 60)
if not 0 < MODEL_DEADLINE_SECONDS < LEASE_SECONDS < VISIBILITY_TIMEOUT_SECONDS:
    raise ImproperlyConfigured(
        f"VISIBILITY_TIMEOUT_SECONDS is {VISIBILITY_TIMEOUT_SECONDS}; it must be above the lease, "
        f"which is MODEL_DEADLINE_SECONDS + RECORDING_SECONDS = {LEASE_SECONDS:g}, and both above 0."
    )

# Calls about one report at most; what would take more waits for a person.
MAX_WINDOWS = env.int("MAX_WINDOWS", 64)

# --- Batches of history ----------------------------------------------------------------------------

# Use the provider's Batch API where it has one; off: batches go through calls.
BATCH_API = env.bool("BATCH_API", True)
# Where a batch's files lie while they go up or come down. They hold content: private, and short-lived.
BATCH_DIRECTORY = Path(
    env.str(
        "BATCH_DIRECTORY", str(Path(tempfile.gettempdir()) / f"moderation-batches-{os.getuid()}")
    )
)

# --- Reviewing

# How long a decision can be taken back, and until then the sender does not see it; 0: never.
UNDO_SECONDS = env.int("UNDO_SECONDS", 10)
if not 0 <= UNDO_SECONDS <= 60:
    raise ImproperlyConfigured("UNDO_SECONDS must be from 0 to 60.")

# --- Celery on Redis: a short buffer of hints, nothing that cannot be rebuilt ------------------------

QUEUE_BOUND = env.int("QUEUE_BOUND", 1000)  # how many nudges the sweep leaves in a queue at most
BATCH_QUEUE_BOUND = env.int("BATCH_QUEUE_BOUND", 100)  # the same for history
# History is not asked while a report that could be asked has waited longer than this.
LIVE_TARGET_SECONDS = env.float("LIVE_TARGET_SECONDS", 30.0)
SWEEP_INTERVAL_SECONDS = env.float("SWEEP_INTERVAL_SECONDS", 5.0)

CELERY_BROKER_URL = required("REDIS_URL", development="redis://127.0.0.1:6379/0")
if not CELERY_BROKER_URL.startswith(("redis://", "rediss://", "redis+socket://")):
    raise ImproperlyConfigured(
        "REDIS_URL must begin with redis://, rediss:// or, for a socket, redis+socket://."
    )
# The same dictionary in every process: the shortest visibility timeout among them would win.
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "visibility_timeout": VISIBILITY_TIMEOUT_SECONDS,
    # A dead worker's messages return about 5 s past the timeout instead of about 100 s.
    "unacked_restore_interval": 1,
    "unacked_restore_throttle": 5,
    # A half-open Redis must not hold a publisher for ever; no retry_on_timeout, it multiplies them.
    "socket_timeout": 5,
    "socket_connect_timeout": 2,
    "socket_keepalive": True,
    "health_check_interval": 25,
    "max_connections": 64,  # acknowledgements come from the pool's threads
}
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None  # a worker never gives up on the broker
CELERY_TASK_QUEUES = [Queue("live"), Queue("batch")]
CELERY_TASK_DEFAULT_QUEUE = "live"
CELERY_TASK_CREATE_MISSING_QUEUES = False
CELERY_TASK_ACKS_LATE = True  # acknowledged after the verdict is committed
CELERY_TASK_REJECT_ON_WORKER_LOST = True  # a killed child is no acknowledgement
# False would drop the message on Redis; the sweep is what brings failed work back.
CELERY_TASK_ACKS_ON_FAILURE = True
CELERY_TASK_ACKS_ON_TIMEOUT = True
CELERY_TASK_IGNORE_RESULT = True  # PostgreSQL holds the results
CELERY_TASK_PUBLISH_RETRY = False  # the sweep is the retry
CELERY_WORKER_PREFETCH_MULTIPLIER = 1  # smallest loss when a worker dies, and no hoarding
CELERY_WORKER_CANCEL_LONG_RUNNING_TASKS_ON_CONNECTION_LOSS = False  # a paid call is worth finishing
CELERY_WORKER_SOFT_SHUTDOWN_TIMEOUT = MODEL_DEADLINE_SECONDS + 5
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TIMEZONE = "UTC"

# --- Logs: to standard error, never content ---------------------------------------------------------

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "{asctime} {levelname} {name}: {message}", "style": "{"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["stderr"], "level": env.str("LOG_LEVEL", "INFO")},
    "loggers": {
        # At DEBUG they tell headers, and a server may echo anything there.
        "httpx2": {"level": "WARNING"},
        "httpcore2": {"level": "WARNING"},
        "openai": {"level": "WARNING"},
    },
}
