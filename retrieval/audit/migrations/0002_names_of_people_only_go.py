"""What erasing a person may write, and no names where something is one person's own."""

from django.db import migrations

# Of a name either nothing is left or a pseudonym made of the event's own keys; addresses are dropped.
KEEP = """
CREATE OR REPLACE FUNCTION audit_keep() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    permitted text := coalesce(current_setting('ragsite.audit', true), '');
    erasable text[] := ARRAY['actor_name', 'target_name', 'address'];
BEGIN
    IF TG_OP = 'DELETE' THEN
        IF permitted = 'retention' AND OLD.at < now() - interval '1 day' THEN
            RETURN OLD;
        END IF;
    ELSIF TG_OP = 'UPDATE' THEN
        IF permitted = 'erasure' AND to_jsonb(NEW) - erasable = to_jsonb(OLD) - erasable
            AND NEW.actor_name IN (OLD.actor_name, '', concat('deleted user ', OLD.actor_id))
            AND (
                NEW.target_name IN (OLD.target_name, '')
                OR OLD.target_type = 'auth.user'
                AND NEW.target_name = concat('deleted user ', OLD.target_id)
            )
            AND (NEW.address IS NULL OR NEW.address = OLD.address)
        THEN
            RETURN NEW;
        END IF;
    END IF;
    RAISE EXCEPTION 'The audit log is append-only.' USING ERRCODE = 'insufficient_privilege';
END
$$;
"""
BEFORE = """
CREATE OR REPLACE FUNCTION audit_keep() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    permitted text := coalesce(current_setting('ragsite.audit', true), '');
    erasable text[] := ARRAY['actor_name', 'target_name', 'address'];
BEGIN
    IF TG_OP = 'DELETE' THEN
        IF permitted = 'retention' AND OLD.at < now() - interval '1 day' THEN
            RETURN OLD;
        END IF;
    ELSIF TG_OP = 'UPDATE' THEN
        IF permitted = 'erasure' AND to_jsonb(NEW) - erasable = to_jsonb(OLD) - erasable THEN
            RETURN NEW;
        END IF;
    END IF;
    RAISE EXCEPTION 'The audit log is append-only.' USING ERRCODE = 'insufficient_privilege';
END
$$;
"""
# They were called by their owner's address or name, and may be gone: whose they were nobody can say.
UNNAME = """
SELECT set_config('ragsite.audit', 'erasure', true);
UPDATE audit_auditevent SET target_name = '' WHERE target_name <> '' AND target_type IN (
    'account.emailaddress', 'accounts.apitoken', 'limits.limit', 'mfa.authenticator',
    'socialaccount.socialaccount', 'usersessions.usersession'
);
SELECT set_config('ragsite.audit', '', true);
UPDATE django_admin_log SET object_repr = '' FROM django_content_type AS kind
WHERE kind.id = content_type_id AND (kind.app_label, kind.model) IN (
    ('account', 'emailaddress'), ('accounts', 'apitoken'), ('limits', 'limit'),
    ('mfa', 'authenticator'), ('socialaccount', 'socialaccount'),
    ('usersessions', 'usersession')
);
"""


class Migration(migrations.Migration):
    dependencies = [
        ("audit", "0001_initial"),
        ("admin", "0003_logentry_add_action_flag_choices"),
        ("contenttypes", "0002_remove_content_type_name"),
    ]

    operations = [
        migrations.RunSQL(KEEP, BEFORE),
        migrations.RunSQL(UNNAME, migrations.RunSQL.noop),
    ]
