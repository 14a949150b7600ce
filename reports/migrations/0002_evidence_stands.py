"""Content never changes (a purge deletes it); audit entries neither change nor go."""

from django.db import migrations

FORWARD = """
CREATE FUNCTION refuse_write() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    -- The trigger's argument names the rule, so that callers can tell it from its kin.
    RAISE EXCEPTION '%: % of % is refused', TG_ARGV[0], TG_OP, TG_TABLE_NAME
        USING ERRCODE = 'restrict_violation', CONSTRAINT = TG_ARGV[0];
END $$;

CREATE TRIGGER content_is_immutable BEFORE UPDATE ON reports_content
    FOR EACH ROW EXECUTE FUNCTION refuse_write('content_is_immutable');

CREATE TRIGGER audit_is_append_only BEFORE UPDATE OR DELETE ON reports_auditentry
    FOR EACH ROW EXECUTE FUNCTION refuse_write('audit_is_append_only');
"""

BACKWARD = """
DROP TRIGGER audit_is_append_only ON reports_auditentry;
DROP TRIGGER content_is_immutable ON reports_content;
DROP FUNCTION refuse_write();
"""


class Migration(migrations.Migration):
    dependencies = [("reports", "0001_initial")]
    operations = [migrations.RunSQL(FORWARD, BACKWARD)]
