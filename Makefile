# Two commands: `make run` starts the site, `make test` runs all tests (ARGS="-k name" for some).

PYTHON ?= $(shell for name in python3.11 python3.12 python3.13 python3; do \
  $$name -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$name && break; \
  done)
PIP = .venv/bin/python -m pip install --quiet --disable-pip-version-check --no-cache-dir

.PHONY: run install test lint lighthouse

run: install
	@.venv/bin/python manage.py up

install: .venv/installed

test: .venv/installed-dev
	.venv/bin/pytest $(or $(ARGS),--numprocesses 2 --dist loadfile --no-loadscope-reorder)

lint: .venv/installed-dev
	.venv/bin/ruff check
	.venv/bin/ruff format --check
	.venv/bin/mypy
	.venv/bin/lint-imports
	find templates -name '*.html' | xargs .venv/bin/djade --check --target-version 5.2
	.venv/bin/python manage.py makemigrations --check --dry-run
	PUBLIC_URL=https://rag.example.org .venv/bin/python manage.py check --deploy --fail-level INFO

lighthouse: .venv/installed-dev
	.venv/bin/python -m benchmarks.lighthouse

# Stamps: a second start finds everything installed and takes no time.
.venv/installed: requirements.lock | .venv/created
	@echo "Installing packages into .venv (once, a minute or two) …"
	@$(PIP) -r $<
	@touch $@

.venv/installed-dev: requirements-dev.lock | .venv/created
	@echo "Installing packages for tests into .venv (once, a minute or two) …"
	@$(PIP) -r $<
	@touch $@

.venv/created:
	@test -n "$(PYTHON)" && "$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Python 3.11 or later is needed. On Debian: apt install python3 python3-venv." \
	    "If it has another name: make PYTHON=/path/to/python3" >&2; exit 1; }
	@"$(PYTHON)" -c 'import ensurepip' 2>/dev/null || { \
	  echo "Python's venv module is incomplete. On Debian: apt install python3-venv" >&2; exit 1; }
	@"$(PYTHON)" -m venv --clear .venv
	@touch $@
