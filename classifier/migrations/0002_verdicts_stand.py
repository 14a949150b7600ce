"""A verdict changes only by being superseded or purged; a policy version from candidate on only moves
its state forward."""

from django.db import migrations

FORWARD = """
CREATE FUNCTION verdict_stands() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    allowed classifier_classification;
BEGIN
    IF TG_OP = 'UPDATE' THEN
        allowed := OLD;
        IF NOT OLD.superseded THEN
            allowed.superseded := NEW.superseded;
        END IF;
        IF OLD.purged_at IS NULL AND NEW.purged_at IS NOT NULL THEN
            allowed.purged_at := NEW.purged_at;
            allowed.summary := NULL;
            allowed.quotes := NULL;
        END IF;
        IF NEW IS NOT DISTINCT FROM allowed THEN
            RETURN NEW;
        END IF;
    END IF;
    RAISE EXCEPTION 'a verdict stands: % refused', TG_OP
        USING ERRCODE = 'restrict_violation', CONSTRAINT = 'verdict_stands';
END $$;

CREATE TRIGGER verdict_stands BEFORE UPDATE OR DELETE ON classifier_classification
    FOR EACH ROW EXECUTE FUNCTION verdict_stands();

CREATE FUNCTION policy_version_stands() RETURNS trigger LANGUAGE plpgsql AS $$
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

CREATE TRIGGER policy_version_stands BEFORE UPDATE OR DELETE ON classifier_policyversion
    FOR EACH ROW EXECUTE FUNCTION policy_version_stands();
"""

BACKWARD = """
DROP TRIGGER policy_version_stands ON classifier_policyversion;
DROP FUNCTION policy_version_stands();
DROP TRIGGER verdict_stands ON classifier_classification;
DROP FUNCTION verdict_stands();
"""


class Migration(migrations.Migration):
    dependencies = [("classifier", "0001_initial")]
    operations = [migrations.RunSQL(FORWARD, BACKWARD)]
