"""What tests with transactions of their own leave in the database is taken out again.

Django would truncate every table, and make all content types, permissions and roles anew: that
takes longer than most tests. Rows are deleted instead, without triggers, for the audit log must
not lose any; and what was there before the first test is put back only where it was changed.
"""

from __future__ import annotations

from django.db import connection

# What migrating makes. Sites that run know these rows by their keys.
MADE = ("django_content_type", "auth_permission", "auth_group", "auth_group_permissions")
# Django does not know these tables, and would leave jobs to the workers of other tests.
QUEUE = ("procrastinate_jobs", "procrastinate_events", "procrastinate_periodic_defers")

# A function's statements are planned once. Whoever still writes is waited for, as TRUNCATE would
# do; whoever reads is not.
FUNCTION = """
CREATE FUNCTION made.empty() RETURNS void LANGUAGE plpgsql
SET session_replication_role = replica AS $$ BEGIN
LOCK TABLE {tables} IN EXCLUSIVE MODE;
{statements}
END $$;
"""
RESTORE = """
DELETE FROM {table} AS now WHERE NOT EXISTS (SELECT FROM made.{table} AS made WHERE made = now);
INSERT INTO {table} TABLE made.{table} ON CONFLICT DO NOTHING;
"""


def prepare() -> None:
    """Keep what there is in a database that has just been migrated.

    Its commits need not outlive a crash from now on, which makes each of them quicker.
    """
    found = connection.introspection.django_table_names(only_existing=True, include_views=False)
    emptied = sorted({*found, *QUEUE} - {*MADE})
    statements = [f"DELETE FROM {table};" for table in emptied]
    statements += [RESTORE.format(table=table) for table in MADE]
    name = connection.ops.quote_name(connection.settings_dict["NAME"])
    with connection.cursor() as cursor:
        cursor.execute("CREATE SCHEMA made")
        for table in MADE:
            cursor.execute(f"CREATE TABLE made.{table} AS TABLE {table}")
        tables = ", ".join([*emptied, *MADE])
        cursor.execute(FUNCTION.format(tables=tables, statements="\n".join(statements)))
        cursor.execute(f"ALTER DATABASE {name} SET synchronous_commit = off")
    # Connections from now on have that setting.
    connection.close()
    connection.close_pool()


def empty() -> None:
    """Leave the database as it was when it had been migrated."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT made.empty()")
