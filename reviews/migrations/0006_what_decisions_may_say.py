"""What the database itself asks of actions, decisions, proposals and undos; and a report is resolved
only beside a decision that somebody took and nobody took back.

The rules of an insert read what stands under the item's lock, which every writer of decisions holds.
"""

from importlib import import_module

from django.db import migrations

FORWARD = """
CREATE FUNCTION action_stands() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND (NEW.slug, NEW.outcome) = (OLD.slug, OLD.outcome) THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'what an action means stands: % refused', TG_OP
        USING ERRCODE = 'restrict_violation', CONSTRAINT = 'action_stands';
END $$;

CREATE TRIGGER action_stands BEFORE UPDATE OR DELETE ON reviews_action
    FOR EACH ROW EXECUTE FUNCTION action_stands();

CREATE FUNCTION is_undone(decision bigint) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (
        SELECT FROM reviews_decision WHERE overrides_id = decision AND kind = 'undo')
$$;

CREATE FUNCTION decision_may_be_said() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    other reviews_decision;
    chosen reviews_action;
    wrong text;
BEGIN
    IF NEW.kind = 'undo' THEN
        SELECT * INTO other FROM reviews_decision WHERE id = NEW.overrides_id;
        wrong := CASE
            WHEN other.id IS NULL OR other.item_id <> NEW.item_id OR other.kind = 'undo'
                THEN 'undo_is_of_a_decision'
            WHEN other.reviewer_id <> NEW.reviewer_id THEN 'undo_is_by_who_decided'
            -- A proposal takes no effect; a minute is the longest that can be configured.
            WHEN clock_timestamp()
                >= coalesce(other.effective_at, other.created_at + interval '1 minute')
                THEN 'undo_comes_in_time'
        END;
    ELSIF NEW.kind = 'decision' THEN
        SELECT * INTO chosen FROM reviews_action WHERE slug = NEW.action;
        IF NEW.approves_id IS NOT NULL THEN
            SELECT * INTO other FROM reviews_decision AS proposal
            WHERE id = NEW.approves_id AND kind = 'proposal' AND id = (
                SELECT max(id) FROM reviews_decision
                WHERE item_id = NEW.item_id AND kind <> 'undo' AND NOT is_undone(id));
            wrong := CASE
                WHEN other.id IS NULL THEN 'approval_is_of_what_is_proposed'
                WHEN other.reviewer_id = NEW.reviewer_id THEN 'approval_is_by_another_person'
                WHEN (other.action, other.category, coalesce(other.reason, ''))
                    IS DISTINCT FROM (NEW.action, NEW.category, coalesce(NEW.reason, ''))
                    THEN 'approval_says_what_was_proposed'
            END;
        ELSIF chosen.outcome IN ('clears', 'upholds')
            AND chosen.second_from <= coalesce(NEW.severity, 4) THEN
            wrong := 'decision_has_its_second_person';
        END IF;
    END IF;
    IF wrong IS NOT NULL THEN
        RAISE EXCEPTION '% about item %: %', NEW.kind, NEW.item_id, wrong
            USING ERRCODE = 'check_violation', CONSTRAINT = wrong;
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER decision_may_be_said BEFORE INSERT ON reviews_decision
    FOR EACH ROW EXECUTE FUNCTION decision_may_be_said();

CREATE FUNCTION is_resolved_by(the_decision bigint) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
DECLARE
    its_kind text;
    its_action text;
BEGIN
    SELECT kind, action INTO its_kind, its_action FROM reviews_decision WHERE id = the_decision;
    RETURN its_kind = 'decision' AND NOT is_undone(the_decision)
        AND (SELECT outcome FROM reviews_action WHERE slug = its_action) IN ('clears', 'upholds');
END $$;

CREATE FUNCTION check_report_status(the_report bigint) RETURNS void LANGUAGE plpgsql AS $$
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
        WHEN its_status = 'resolved' AND NOT has_decision
            THEN 'resolved without a decision that stands'
    END;
    IF wrong IS NOT NULL THEN
        RAISE EXCEPTION 'report %: %', the_report, wrong
            USING ERRCODE = 'check_violation', CONSTRAINT = 'report_status_agrees';
    END IF;
END $$;

CREATE OR REPLACE FUNCTION report_status_agrees() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_TABLE_NAME = 'reports_report' THEN
        PERFORM check_report_status(NEW.id);
    ELSIF TG_TABLE_NAME = 'reviews_decision' THEN
        PERFORM check_report_status(report_id) FROM (
            SELECT report_id FROM reviews_decidedreport WHERE decision_id = NEW.overrides_id
            ORDER BY report_id) AS decided;
    ELSE
        PERFORM check_report_status(NEW.report_id);
    END IF;
    RETURN NULL;
END $$;

CREATE CONSTRAINT TRIGGER report_status_agrees_with_undos
    AFTER INSERT ON reviews_decision DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW WHEN (NEW.kind = 'undo') EXECUTE FUNCTION report_status_agrees();
"""

_BEFORE: str = import_module("reviews.migrations.0002_status_agrees").FORWARD
_START = _BEFORE.index("FUNCTION report_status_agrees()")
BACKWARD = f"""
DROP TRIGGER report_status_agrees_with_undos ON reviews_decision;
CREATE OR REPLACE {_BEFORE[_START : _BEFORE.index("END $$;", _START)]}END $$;
DROP FUNCTION check_report_status(bigint);
DROP FUNCTION is_resolved_by(bigint);
DROP TRIGGER decision_may_be_said ON reviews_decision;
DROP FUNCTION decision_may_be_said();
DROP FUNCTION is_undone(bigint);
DROP TRIGGER action_stands ON reviews_action;
DROP FUNCTION action_stands();
"""


class Migration(migrations.Migration):
    dependencies = [("reviews", "0005_actions")]
    operations = [migrations.RunSQL(FORWARD, BACKWARD)]
