"""Numbers of policy versions only grow: none is inserted below another, none is deleted to be given
out again, and none becomes active below one that was."""

from django.db import migrations

FORWARD = """
CREATE OR REPLACE FUNCTION policy_version_stands() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    allowed classifier_policyversion;
    ladder CONSTANT text[] := ARRAY['draft', 'candidate', 'active', 'retired'];
BEGIN
    IF TG_OP = 'INSERT' THEN
        IF NEW.number <= (SELECT max(number) FROM classifier_policyversion) THEN
            RAISE EXCEPTION 'policy version % is not above every other', NEW.number
                USING ERRCODE = 'restrict_violation', CONSTRAINT = 'policy_numbers_grow';
        END IF;
        RETURN NEW;
    ELSIF TG_OP = 'UPDATE' THEN
        IF NEW.state = 'active' AND OLD.state <> 'active' AND NEW.number < (
            SELECT max(number) FROM classifier_policyversion WHERE activated_at IS NOT NULL
        ) THEN
            RAISE EXCEPTION 'policy version % is older than one that was active', NEW.number
                USING ERRCODE = 'restrict_violation', CONSTRAINT = 'policy_numbers_grow';
        END IF;
        IF OLD.state = 'draft' AND NEW.number = OLD.number THEN
            RETURN NEW;
        ELSIF OLD.state <> 'draft' THEN
            allowed := OLD;
            IF array_position(ladder, NEW.state::text) > array_position(ladder, OLD.state::text) THEN
                allowed.state := NEW.state;
                allowed.activated_at := coalesce(OLD.activated_at, NEW.activated_at);
            END IF;
            IF NEW IS NOT DISTINCT FROM allowed THEN
                RETURN NEW;
            END IF;
        END IF;
    END IF;
    RAISE EXCEPTION 'policy version % is %: % refused', OLD.number, OLD.state, TG_OP
        USING ERRCODE = 'restrict_violation', CONSTRAINT = 'policy_version_stands';
END $$;

DROP TRIGGER policy_version_stands ON classifier_policyversion;
CREATE TRIGGER policy_version_stands BEFORE INSERT OR UPDATE OR DELETE ON classifier_policyversion
    FOR EACH ROW EXECUTE FUNCTION policy_version_stands();
"""

BACKWARD = """
CREATE OR REPLACE FUNCTION policy_version_stands() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    allowed classifier_policyversion;
    ladder CONSTANT text[] := ARRAY['draft', 'candidate', 'active', 'retired'];
BEGIN
    IF OLD.state = 'draft' THEN
        IF TG_OP = 'DELETE' THEN
            RETURN OLD;
        ELSIF NEW.number = OLD.number THEN
            RETURN NEW;
        END IF;
    ELSIF TG_OP = 'UPDATE' THEN
        allowed := OLD;
        IF array_position(ladder, NEW.state::text) > array_position(ladder, OLD.state::text) THEN
            allowed.state := NEW.state;
            allowed.activated_at := coalesce(OLD.activated_at, NEW.activated_at);
        END IF;
        IF NEW IS NOT DISTINCT FROM allowed THEN
            RETURN NEW;
        END IF;
    END IF;
    RAISE EXCEPTION 'policy version % is %: % refused', OLD.number, OLD.state, TG_OP
        USING ERRCODE = 'restrict_violation', CONSTRAINT = 'policy_version_stands';
END $$;

DROP TRIGGER policy_version_stands ON classifier_policyversion;
CREATE TRIGGER policy_version_stands BEFORE UPDATE OR DELETE ON classifier_policyversion
    FOR EACH ROW EXECUTE FUNCTION policy_version_stands();
"""


class Migration(migrations.Migration):
    dependencies = [("classifier", "0004_batches")]
    operations = [migrations.RunSQL(FORWARD, BACKWARD)]
