"""Decisions stand; and a report's status always agrees with its verdicts and decisions.

Both checks of the agreement wait for the commit, so a transaction may write the rows in any order.
They lock the report first: two transactions that would each see half of the truth wait for one
another.
"""

from django.db import migrations

FORWARD = """
CREATE FUNCTION decision_stands() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    allowed reviews_decision;
BEGIN
    IF TG_OP = 'UPDATE' AND OLD.purged_at IS NULL AND NEW.purged_at IS NOT NULL THEN
        allowed := OLD;
        allowed.purged_at := NEW.purged_at;
        allowed.note := NULL;
        allowed.reason := NULL;
        IF NEW IS NOT DISTINCT FROM allowed THEN
            RETURN NEW;
        END IF;
    END IF;
    RAISE EXCEPTION 'a decision stands: % refused', TG_OP
        USING ERRCODE = 'restrict_violation', CONSTRAINT = 'decision_stands';
END $$;

CREATE TRIGGER decision_stands BEFORE UPDATE OR DELETE ON reviews_decision
    FOR EACH ROW EXECUTE FUNCTION decision_stands();
CREATE TRIGGER decided_report_stands BEFORE UPDATE OR DELETE ON reviews_decidedreport
    FOR EACH ROW EXECUTE FUNCTION refuse_write('decision_stands');

CREATE FUNCTION report_status_agrees() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    the_report bigint;
    its_status text;
    has_current boolean;
    has_decision boolean;
    wrong text;
BEGIN
    IF TG_TABLE_NAME = 'reports_report' THEN
        the_report := NEW.id;
    ELSE
        the_report := NEW.report_id;
    END IF;
    SELECT status INTO its_status FROM reports_report WHERE id = the_report FOR NO KEY UPDATE;
    has_current := EXISTS (
        SELECT FROM classifier_classification WHERE report_id = the_report AND NOT superseded);
    has_decision := EXISTS (
        SELECT FROM reviews_decidedreport WHERE report_id = the_report);
    wrong := CASE
        WHEN its_status = 'pending' AND has_current
            THEN 'pending beside a current classification'
        WHEN its_status = 'judged_safe' AND NOT has_current
            THEN 'judged safe without a current classification'
        WHEN its_status = 'needs_review' AND NOT has_current AND NOT has_decision
            THEN 'needs review without a current classification or a decision'
        WHEN its_status = 'resolved' AND NOT has_decision
            THEN 'resolved without a decision'
    END;
    IF wrong IS NOT NULL THEN
        RAISE EXCEPTION 'report %: %', the_report, wrong
            USING ERRCODE = 'check_violation', CONSTRAINT = 'report_status_agrees';
    END IF;
    RETURN NULL;
END $$;

CREATE CONSTRAINT TRIGGER report_status_agrees_on_update
    AFTER UPDATE OF status ON reports_report DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION report_status_agrees();
CREATE CONSTRAINT TRIGGER report_status_agrees_on_insert
    AFTER INSERT ON reports_report DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW WHEN (NEW.status <> 'pending') EXECUTE FUNCTION report_status_agrees();
CREATE CONSTRAINT TRIGGER report_status_agrees_with_verdicts
    AFTER INSERT OR UPDATE OF superseded ON classifier_classification
    DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION report_status_agrees();
"""

BACKWARD = """
DROP TRIGGER report_status_agrees_with_verdicts ON classifier_classification;
DROP TRIGGER report_status_agrees_on_insert ON reports_report;
DROP TRIGGER report_status_agrees_on_update ON reports_report;
DROP FUNCTION report_status_agrees();
DROP TRIGGER decided_report_stands ON reviews_decidedreport;
DROP TRIGGER decision_stands ON reviews_decision;
DROP FUNCTION decision_stands();
"""


class Migration(migrations.Migration):
    dependencies = [
        ("reviews", "0001_initial"),
        ("classifier", "0002_verdicts_stand"),
        ("reports", "0002_evidence_stands"),
    ]
    operations = [migrations.RunSQL(FORWARD, BACKWARD)]
