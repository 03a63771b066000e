"""Run the whole site: database, model, worker and web server."""

from __future__ import annotations

import asyncio
import errno
import fcntl
import os
import socket
from typing import Any, cast

from django.conf import settings
from django.core.management import CommandError
from django.db import connection

from chat.management.first_start import Administrator, administrator
from chat.management.static import collect
from chat.management.supervisor import Supervisor
from retrieval.management.ready import ReadyCommand


class Command(ReadyCommand):
    needs_model = False  # the web server prepares it
    help = "Run the whole site until Ctrl-C: database, model, worker and web server."

    def check_migrations(self) -> None:
        """Refuse to start what runs already, before anything is changed."""
        self.claim()
        self.tell_state()
        super().check_migrations()

    def handle(self, *args: Any, **options: Any) -> None:
        collect()
        admin = administrator()
        connection.close()
        cast("Any", connection).close_pool()  # nothing is asked from here on
        supervisor = Supervisor(settings.WEB_HOST, settings.WEB_PORT, settings.KEEP_POSTGRES)
        status = asyncio.run(supervisor.run(lambda: self.announce(admin)))
        if status is not None:
            raise CommandError(f"The web server ended with status {status}; see above.")
        self.say("Stopped.")

    @property
    def address(self) -> str:
        """Where people open the site."""
        host, port = settings.WEB_HOST, settings.WEB_PORT
        if host in ("0.0.0.0", "::"):  # noqa: S104 - an address to connect to is shown instead
            host = "127.0.0.1"
        return settings.PUBLIC_URL or f"http://{f'[{host}]' if ':' in host else host}:{port}/"

    def claim(self) -> None:
        """Hold the lock of the running site; raises CommandError if it or the port is taken."""
        # Kept open, and so held, as long as this command runs.
        self.lock = (settings.STATE_DIR / "up.lock").open("a+")
        try:
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self.lock.seek(0)
            raise CommandError(f"The site runs already: {self.lock.read()}.") from None
        host, port = settings.WEB_HOST, settings.WEB_PORT
        try:
            family = socket.AF_INET6 if ":" in host else socket.AF_INET
            socket.create_server((host, port), family=family).close()
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                raise CommandError(
                    f"Port {port} is used by another program. Choose another: PORT={port + 1}"
                ) from error
            raise CommandError(
                f"Cannot listen on {host} port {port}: {error.strerror}. Set HOST or PORT."
            ) from error
        self.lock.truncate(0)
        self.lock.write(f"{self.address} (process {os.getpid()})")
        self.lock.flush()

    def tell_state(self) -> None:
        """Tell where data goes when it is not inside the checkout."""
        if "RAGSITE_STATE" in os.environ:
            self.say(f"Data is kept in {settings.STATE_DIR}, as RAGSITE_STATE says.")
        elif not settings.STATE_DIR.is_relative_to(settings.BASE_DIR):
            self.say(
                f"Data is kept in {settings.STATE_DIR}: PostgreSQL never runs as root, and other "
                f"users may not enter {settings.BASE_DIR}. RAGSITE_STATE names another folder."
            )

    def announce(self, admin: Administrator) -> None:
        """Tell how to reach the site and sign in."""
        if self.json:
            self.emit({"address": self.address, "user": admin.username, "password": admin.password})
            return
        state = os.environ.get("RAGSITE_STATE")
        reset = f"{f'RAGSITE_STATE={state} ' if state else ''}.venv/bin/python manage.py"
        self.say(f"\nThe site runs at {self.address} (Ctrl-C stops it).")
        if admin.username:
            self.say(f"User:     {admin.username}")
            if admin.is_new:
                shown = f"{admin.password}  (shown only now)" if admin.password else "as you set it"
                self.say(f"Password: {shown}")
            self.say(f"Set another password: {reset} changepassword {admin.username}")
        else:
            self.say(f"There is no administrator; make one: {reset} createsuperuser")
