"""Draws and their strata stand, an audit only gets its answer, and a second review has its second
person; a report may also be resolved by an invalidation that stands. The first rates are laid down.
"""

from importlib import import_module

from django.db import migrations

from reviews.migrations._first_rates import FIRST_RATES

FORWARD = """
CREATE TRIGGER draw_stands BEFORE UPDATE OR DELETE ON reviews_draw
    FOR EACH ROW EXECUTE FUNCTION refuse_write('draw_stands');
CREATE TRIGGER stratum_stands BEFORE UPDATE OR DELETE ON reviews_stratum
    FOR EACH ROW EXECUTE FUNCTION refuse_write('stratum_stands');

CREATE FUNCTION audit_only_gets_its_answer() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND (NEW.id, NEW.stratum_id, NEW.classification_id, NEW.report_id)
            = (OLD.id, OLD.stratum_id, OLD.classification_id, OLD.report_id) THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'an audit stands: % refused', TG_OP
        USING ERRCODE = 'restrict_violation', CONSTRAINT = 'audit_only_gets_its_answer';
END $$;

CREATE TRIGGER audit_only_gets_its_answer BEFORE UPDATE OR DELETE ON reviews_blindaudit
    FOR EACH ROW EXECUTE FUNCTION audit_only_gets_its_answer();

CREATE FUNCTION double_review_may_be_said() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    first_reviewer bigint;
    wrong text;
BEGIN
    IF TG_OP = 'DELETE' THEN
        wrong := 'double_review_stands';
    ELSE
        SELECT reviewer_id INTO first_reviewer FROM reviews_decision WHERE id = NEW.decision_id;
        wrong := CASE
            WHEN NEW.reviewer_id = first_reviewer THEN 'second_review_is_by_another_person'
            WHEN NEW.settled_by_id IN (first_reviewer, NEW.reviewer_id)
                THEN 'settlement_is_by_a_third_person'
            WHEN TG_OP = 'INSERT' THEN NULL
            WHEN (NEW.stratum_id, NEW.decision_id) <> (OLD.stratum_id, OLD.decision_id)
                THEN 'double_review_stands'
            WHEN OLD.settled_at IS NOT NULL THEN 'double_review_stands'
            -- A minute is the longest time to undo that can be configured.
            WHEN OLD.answered_at IS NOT NULL
                AND (NEW.reviewer_id, NEW.action_id, NEW.category, NEW.answered_at, NEW.agrees)
                    IS DISTINCT FROM
                    (OLD.reviewer_id, OLD.action_id, OLD.category, OLD.answered_at, OLD.agrees)
                AND (NEW.answered_at IS NOT NULL
                    OR clock_timestamp() >= OLD.answered_at + interval '1 minute')
                THEN 'second_answer_stands'
        END;
    END IF;
    IF wrong IS NOT NULL THEN
        RAISE EXCEPTION 'double review %: %', OLD.id, wrong
            USING ERRCODE = 'check_violation', CONSTRAINT = wrong;
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER double_review_may_be_said BEFORE INSERT OR UPDATE OR DELETE ON reviews_doublereview
    FOR EACH ROW EXECUTE FUNCTION double_review_may_be_said();

CREATE FUNCTION is_invalidated(the_report bigint) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (
        SELECT FROM reports_invalidatedreport AS one
        JOIN reports_invalidation AS whole ON whole.id = one.invalidation_id
        WHERE one.report_id = the_report AND whole.revoked_at IS NULL)
$$;

CREATE OR REPLACE FUNCTION check_report_status(the_report bigint) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    its_status text;
    has_current boolean;
    has_decision boolean;
    wrong text;
BEGIN
    SELECT status INTO its_status FROM reports_report WHERE id = the_report FOR NO KEY UPDATE;
    has_current := EXISTS (
        SELECT FROM classifier_classification WHERE report_id = the_report AND NOT superseded);
    -- One table a statement: a plan that was made while the tables were small serves large ones too.
    has_decision := EXISTS (
        SELECT FROM reviews_decidedreport WHERE report_id = the_report
            AND (its_status <> 'resolved' OR is_resolved_by(decision_id)));
    wrong := CASE
        WHEN its_status = 'pending' AND has_current
            THEN 'pending beside a current classification'
        WHEN its_status = 'judged_safe' AND NOT has_current
            THEN 'judged safe without a current classification'
        WHEN its_status = 'needs_review' AND NOT has_current AND NOT has_decision
            THEN 'needs review without a current classification or a decision'
        WHEN its_status = 'resolved' AND NOT has_decision AND NOT is_invalidated(the_report)
            THEN 'resolved without a decision or an invalidation that stands'
    END;
    IF wrong IS NOT NULL THEN
        RAISE EXCEPTION 'report %: %', the_report, wrong
            USING ERRCODE = 'check_violation', CONSTRAINT = 'report_status_agrees';
    END IF;
END $$;

CREATE FUNCTION report_status_agrees_after_revoking() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM check_report_status(report_id) FROM (
        SELECT report_id FROM reports_invalidatedreport WHERE invalidation_id = NEW.id
        ORDER BY report_id) AS named;
    RETURN NULL;
END $$;

CREATE CONSTRAINT TRIGGER report_status_agrees_after_revoking
    AFTER UPDATE OF revoked_at ON reports_invalidation DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION report_status_agrees_after_revoking();
CREATE TRIGGER invalidated_report_stands BEFORE UPDATE OR DELETE ON reports_invalidatedreport
    FOR EACH ROW EXECUTE FUNCTION refuse_write('invalidated_report_stands');
"""

_BEFORE: str = import_module("reviews.migrations.0006_what_decisions_may_say").FORWARD
_START = _BEFORE.index("FUNCTION check_report_status(")
BACKWARD = f"""
DELETE FROM reviews_samplingrate;
DROP TRIGGER invalidated_report_stands ON reports_invalidatedreport;
DROP TRIGGER report_status_agrees_after_revoking ON reports_invalidation;
DROP FUNCTION report_status_agrees_after_revoking();
CREATE OR REPLACE {_BEFORE[_START : _BEFORE.index("END $$;", _START)]}END $$;
DROP FUNCTION is_invalidated(bigint);
DROP TRIGGER double_review_may_be_said ON reviews_doublereview;
DROP FUNCTION double_review_may_be_said();
DROP TRIGGER audit_only_gets_its_answer ON reviews_blindaudit;
DROP FUNCTION audit_only_gets_its_answer();
DROP TRIGGER stratum_stands ON reviews_stratum;
DROP TRIGGER draw_stands ON reviews_draw;
"""  # noqa: S608 - our own text


class Migration(migrations.Migration):
    dependencies = [("reviews", "0008_quality"), ("reports", "0007_quality")]
    operations = [
        migrations.RunSQL(FORWARD, BACKWARD),
        migrations.RunSQL(FIRST_RATES, migrations.RunSQL.noop),
    ]
