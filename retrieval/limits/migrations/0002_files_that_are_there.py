"""Count the files that were uploaded before there were limits."""

from django.db import migrations

COUNT = """
INSERT INTO limits_storedfile (user_id, version_id, uploaded_at)
SELECT document.uploaded_by_id, version.id, version.created_at
FROM retrieval_documentversion AS version
JOIN retrieval_document AS document ON document.id = version.document_id
WHERE document.uploaded_by_id IS NOT NULL
"""


class Migration(migrations.Migration):
    dependencies = [("limits", "0001_who_may_use_how_much")]

    operations = [migrations.RunSQL(COUNT, migrations.RunSQL.noop)]
