"""Settings, all from the environment or `.env`; docs/settings.md lists what can be set."""

from __future__ import annotations

from functools import partial
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

from ragsite import backends, logs, postgres, privacy, security, strength
from ragsite.environment import BASE_DIR, env
from ragsite.limits import *  # noqa: F403 - settings by subject
from ragsite.privacy import *  # noqa: F403
from ragsite.security import *  # noqa: F403
from ragsite.signing_in import *  # noqa: F403
from ragsite.state import state_dir

# Everything the site writes: the embedded database, models, uploads, the secret key.
STATE_DIR = state_dir(BASE_DIR)

INSTALLED_APPS = [
    "daphne",
    "servestatic",
    "ragsite.admin_site.SiteConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.humanize",
    "django.contrib.messages",
    "django.contrib.postgres",
    "django.contrib.sessions",
    "django.contrib.staticfiles",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
    "allauth.usersessions",
    "channels",
    "csp",
    "django_htmx",
    "procrastinate.contrib.django",
    "retrieval",
    "retrieval.audit",
    "retrieval.limits",
    "chat",
    "chat.accounts",
]

MIDDLEWARE = [
    # First, so that whatever answers is headed.
    "csp.middleware.CSPMiddleware",
    "django_permissions_policy.PermissionsPolicyMiddleware",
    "ragsite.headers.PrivateByDefaultMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "servestatic.middleware.ServeStaticMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    # Before the check of CSRF, which a request with a token needs none of.
    "chat.accounts.bearer.TokenMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "chat.accounts.sessions.SessionUseMiddleware",
    "retrieval.audit.middleware.audit_middleware",
    "chat.accounts.guests.GuestMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]

ROOT_URLCONF = "ragsite.urls"
ASGI_APPLICATION = "ragsite.asgi.application"

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
                "chat.accounts.context.signing_in",
            ],
        },
    },
]

DATABASE_URL = env.str("DATABASE_URL", default="")
if DATABASE_URL and urlsplit(DATABASE_URL).scheme not in {"postgres", "postgresql"}:
    raise ImproperlyConfigured(
        "DATABASE_URL must look like postgres://user:password@host:5432/name."
    )
DATABASES = {
    "default": env.db_url("DATABASE_URL") if DATABASE_URL else postgres.database(STATE_DIR)
}
DATABASES["default"] |= {
    "ENGINE": "django.db.backends.postgresql",
    "CONN_MAX_AGE": 0,
    # A connection that PostgreSQL closed, by a restart, is found before it is used.
    "CONN_HEALTH_CHECKS": True,
    # Processes x pools must stay well below PostgreSQL's max_connections (100).
    "OPTIONS": {"pool": {"min_size": 0, "max_size": 10, "timeout": 10}},
}
EMBEDDED_POSTGRES = not DATABASE_URL
# Starts the embedded server if it has ended, and returns whether it had.
KEEP_POSTGRES = partial(postgres.keep_running, STATE_DIR) if EMBEDDED_POSTGRES else None
# Threads that run the ORM for sockets and runs; fewer than the pool has connections.
DATABASE_THREADS = 8
# Connections for what every question waits for, beside that pool; seconds to wait for one.
DATABASE_CONNECTIONS = 8
DATABASE_TIMEOUT = 10.0

DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# What several web processes tell each other; one process by itself needs no Redis.
REDIS_URL = env.str("REDIS_URL", default="")
CHANNEL_LAYERS = {
    "default": {
        "BACKEND": "chat.channel_layer.RelayedChannelLayer",
        "CONFIG": {"url": REDIS_URL},
    }
    if REDIS_URL
    else {"BACKEND": "channels.layers.InMemoryChannelLayer"}
}

# Processes of `manage.py web`, which serve on one port.
WEB_PROCESSES = env.int("WEB_PROCESSES", default=1)
if WEB_PROCESSES < 1:
    raise ImproperlyConfigured("WEB_PROCESSES must be 1 or more.")
if WEB_PROCESSES > 1 and not REDIS_URL:
    raise ImproperlyConfigured(
        f"WEB_PROCESSES={WEB_PROCESSES} needs Redis, by which processes tell each other of new "
        "answers and of people who sign out. Set REDIS_URL, or leave WEB_PROCESSES out."
    )

LANGUAGE_CODE = "en"
# Every text of the site goes through gettext; so far there is no other language to choose.
LANGUAGES = [("en", "English")]
LOCALE_PATHS = [BASE_DIR / "locale"]
TIME_ZONE = env.str("TIME_ZONE", default="UTC")
USE_I18N = True
FORMAT_MODULE_PATH = ["ragsite.formats"]
USE_TZ = True

STATIC_URL = "/static/"
SERVESTATIC_ALLOW_ALL_ORIGINS = False
STATICFILES_DIRS = [BASE_DIR / "static"]
STATIC_ROOT = STATE_DIR / "static"
MEDIA_ROOT = STATE_DIR / "media"
MODEL_DIR = STATE_DIR / "models"
STORAGES = {
    "default": {
        "BACKEND": "django.core.files.storage.FileSystemStorage",
        # What people upload is not for other users of the machine.
        "OPTIONS": {"file_permissions_mode": 0o600, "directory_permissions_mode": 0o700},
    },
    "staticfiles": {"BACKEND": "ragsite.staticfiles.HashedStaticFilesStorage"},
}

# Uploads: what is above these is refused while it streams in. Of a file, and of a whole request:
UPLOAD_MAX_BYTES = env.int("UPLOAD_MAX_BYTES", default=100 * 2**20)
UPLOAD_MAX_REQUEST_BYTES = env.int("UPLOAD_MAX_REQUEST_BYTES", default=2 * UPLOAD_MAX_BYTES)
if UPLOAD_MAX_REQUEST_BYTES < UPLOAD_MAX_BYTES:
    raise ImproperlyConfigured(
        "UPLOAD_MAX_REQUEST_BYTES must not be less than UPLOAD_MAX_BYTES, as files come in it."
    )
UPLOAD_MAX_FILES = env.int("UPLOAD_MAX_FILES", default=100)
DATA_UPLOAD_MAX_NUMBER_FILES = UPLOAD_MAX_FILES
# Kinds of files that are taken, as suffixes; all that can be read if there is none.
UPLOAD_TYPES = [
    kind.strip().lower().lstrip(".")
    for kind in env.list("UPLOAD_TYPES", default=[])
    if kind.strip()
]
# Of the files in a zip: how many, and what they unpack to.
ARCHIVE_MAX_FILES = env.int("ARCHIVE_MAX_FILES", default=2000)
ARCHIVE_MAX_BYTES = env.int("ARCHIVE_MAX_BYTES", default=2**30)
# Fetching files from addresses, by the worker; private addresses only of the hosts named here.
FETCH_URLS = env.bool("FETCH_URLS", default=True)
FETCH_PRIVATE_HOSTS = env.list("FETCH_PRIVATE_HOSTS", default=[])
FETCH_TIMEOUT_SECONDS = env.int("FETCH_TIMEOUT_SECONDS", default=60)
EXTRACTION_TIMEOUT_SECONDS = env.int("EXTRACTION_TIMEOUT_SECONDS", default=300)
EXTRACTION_MEMORY_BYTES = env.int("EXTRACTION_MEMORY_BYTES", default=2 * 2**30)
# Recognising text in scans with tesseract: in pictures (auto), in anything drawn (on), or off.
OCR = env.str("OCR", default="auto").lower()
if OCR not in {"auto", "on", "off"}:
    raise ImproperlyConfigured("OCR is one of auto, on and off.")
# By tesseract's names, such as eng or chi_sim; those that are installed if there is none.
OCR_LANGUAGES = env.list("OCR_LANGUAGES", default=[])
OCR_MAX_PAGES = env.int("OCR_MAX_PAGES", default=300)
OCR_TIMEOUT_SECONDS = env.int("OCR_TIMEOUT_SECONDS", default=600)

# Which embedder, reranker and generator: by EMBEDDER, RERANKER, GENERATOR … or spelt out here.
RAG_BACKENDS = backends.from_environment(env)
# Every embedder: documents may still be embedded by another one than the chosen one.
EMBEDDERS = backends.embedders(env)

# What the worker sends an embedding provider: tokens a request, requests in flight a worker, and
# requests and tokens a minute of all workers together (0: as many as it takes).
EMBEDDING_BATCH_TOKENS = env.int("EMBEDDING_BATCH_TOKENS", default=8000)
EMBEDDING_REQUESTS_IN_FLIGHT = env.int("EMBEDDING_REQUESTS_IN_FLIGHT", default=4)
EMBEDDING_REQUESTS_PER_MINUTE = env.int("EMBEDDING_REQUESTS_PER_MINUTE", default=0)
EMBEDDING_TOKENS_PER_MINUTE = env.int("EMBEDDING_TOKENS_PER_MINUTE", default=0)
if EMBEDDING_BATCH_TOKENS < 1 or EMBEDDING_REQUESTS_IN_FLIGHT < 1:
    raise ImproperlyConfigured(
        "EMBEDDING_BATCH_TOKENS and EMBEDDING_REQUESTS_IN_FLIGHT must be 1 or more."
    )
# A version of which nothing was heard for so long is taken up again.
INGEST_STALLED_SECONDS = env.int("INGEST_STALLED_SECONDS", default=900)

# Old versions of a document that are kept beside the one that is searched, and for how many days
# after they were replaced; those that answers cite, for how many days after the answer (unset: as
# long as there is the answer); what was deleted, for how many days.
OLD_VERSIONS_KEPT = env.int("OLD_VERSIONS_KEPT", default=5)
OLD_VERSIONS_DAYS = env.int("OLD_VERSIONS_DAYS", default=30)
CITED_VERSIONS_DAYS = env.int("CITED_VERSIONS_DAYS", default=None)
DELETED_DOCUMENTS_DAYS = env.int("DELETED_DOCUMENTS_DAYS", default=0)

# Best relevance below which the documents do not hold the answer; the reranker's own when unset.
ANSWER_THRESHOLD = env.float("ANSWER_THRESHOLD", default=None)
# Tokens of passages that go into a prompt.
CONTEXT_TOKENS = env.int("CONTEXT_TOKENS", default=3000)
# The file `tokenizer.json` of the generator's model, which these are counted by.
CHAT_TOKENIZER = env.str("CHAT_TOKENIZER", default="")

# Search for what is being typed, before it is asked.
PREFETCH = env.bool("PREFETCH", default=True)

# Say of each citation how well its passage supports the sentence before it.
GROUNDING = env.bool("GROUNDING", default=True)
# How long the end of an answer may wait for that; what takes longer is stored later.
GROUNDING_WAIT_SECONDS = env.int("GROUNDING_WAIT_MS", default=300) / 1000
# Have the generator judge that, too, when the answer has been shown.
GROUNDING_JUDGE = env.bool("GROUNDING_JUDGE", default=False)

# Rewrite a question that follows others into one that stands by itself, to search for.
REWRITE = env.bool("REWRITE", default=True)
# Seconds a generator may take for that, or for what a search strategy has it write.
REWRITE_TIMEOUT = env.float("REWRITE_TIMEOUT", default=8.0)
# The model that does so, a small one say; unset, the one that answers.
REWRITE_MODEL = env.str("REWRITE_MODEL", default="")

# Have the generator name a new conversation when its first answer has been shown.
TITLES = env.bool("TITLES", default=True)

# What a second question does while the conversation's answer is being written: `reject` it,
# `enqueue` it, or `interrupt` the answer.
MULTITASK_STRATEGY = env.str("MULTITASK_STRATEGY", default="reject")
if MULTITASK_STRATEGY not in {"reject", "enqueue", "interrupt"}:
    raise ImproperlyConfigured("MULTITASK_STRATEGY must be reject, enqueue or interrupt.")
# A run goes on this long after its last reader left.
RUN_GRACE_SECONDS = env.float("RUN_GRACE_SECONDS", default=30.0)
# A run whose process has not renewed its lease for this long is interrupted.
RUN_LEASE_SECONDS = 10.0
# Told to stop, the web server gives what is being answered this long to end.
DRAIN_SECONDS = env.float("DRAIN_SECONDS", default=30.0)
# Tokens that arrive within this time share a frame; the first goes out at once.
TOKEN_FRAME_SECONDS = env.int("TOKEN_FRAME_MS", default=50) / 1000
# What was streamed is saved at most this much later.
RUN_SAVE_SECONDS = 0.25
# How long a provider may be silent: before the first token, and between tokens.
PROVIDER_CONNECT_TIMEOUT = env.float("PROVIDER_CONNECT_TIMEOUT", default=10.0)
PROVIDER_FIRST_TOKEN_TIMEOUT = env.float("PROVIDER_FIRST_TOKEN_TIMEOUT", default=60.0)
PROVIDER_TOKEN_TIMEOUT = env.float("PROVIDER_TOKEN_TIMEOUT", default=30.0)
# How often a generator is asked while nothing of its answer has been seen.
PROVIDER_ATTEMPTS = env.int("PROVIDER_ATTEMPTS", default=3)

# One line an event on standard error, for people or, with LOG_FORMAT=json, for machines.
LOGGING = logs.configure(
    level=env.str("LOG_LEVEL", default="INFO"),
    form=env.str("LOG_FORMAT", default="text"),
    contents=privacy.LOG_QUESTIONS,
)
# Lets Prometheus read /metrics; without it only staff may.
METRICS_TOKEN = env.str("METRICS_TOKEN", default="")

if security.CHECK_SECRETS:
    _user, _password = (str(DATABASES["default"].get(name) or "") for name in ("USER", "PASSWORD"))
    strength.check(
        env.str("SECRET_KEY", default=""),
        METRICS_TOKEN,
        ("", "") if EMBEDDED_POSTGRES else (_user, _password),
    )
