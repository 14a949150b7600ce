"""What a damaged disk or a careless hand could do to the rows, and what must be named for it."""
# ruff: noqa: S608 - the statements are our own

from typing import NamedTuple

from classifier.tests.situations import make_many
from reports.tests.unguarded import unguarded


class Harm(NamedTuple):
    """SQL in which `:name` is a report of the life and `@name` its item; and whom the check must name."""

    invariant: str
    sql: str
    names: str


COPY = (
    "INSERT INTO classifier_classification SELECT (jsonb_populate_record(row, jsonb_build_object("
    "'id', row.id + 1000, 'superseded', true))).*"
    " FROM classifier_classification AS row WHERE report_id = :unsafe"
)
COPY_JOB = (
    "INSERT INTO classifier_job SELECT (jsonb_populate_record(row, jsonb_build_object("
    "'id', row.id + 1000))).* FROM classifier_job AS row WHERE report_id = :parked"
)
MOVE = (
    "UPDATE reports_report SET status = '{to}' WHERE id = :{name}; UPDATE reports_item"
    " SET list = '{to}', resolved_at = {at}, due_at = (SELECT due_at FROM reports_report"
    " WHERE id = :{name} AND status = 'pending') WHERE id = @{name}"
)
JOB_OF_BATCH = (
    "INSERT INTO classifier_job (report_id, policy_version_id, batch_id, lane, attempts, claims,"
    " faults, reason, parked, done) SELECT :safe, policy_version_id, id, 'batch', 0, 0, 0, '', false,"
    " {done} FROM classifier_batch"
)
AUDIT = (
    "WITH draw AS (INSERT INTO reviews_draw (of, since, until, seed, actor_name)"
    " VALUES ('audits', now() - interval '1 day', now(), '', 'test') RETURNING id),"
    " stratum AS (INSERT INTO reviews_stratum"
    " (draw_id, sender_id, language, category, band, population, drawn)"
    " SELECT draw.id, sender.id, 'en', 'none', '', 2, 2 FROM draw, reports_sender AS sender"
    " WHERE sender.name = 'forum' RETURNING id)"
    " INSERT INTO reviews_blindaudit (stratum_id, classification_id, report_id)"
)
AGO = "clock_timestamp() - interval '1 hour'"
HARMS = {
    "content gone": Harm("V1", "DELETE FROM reports_content WHERE report_id = :new", "new"),
    "reporter gone": Harm(
        "V1",
        "DELETE FROM reports_reporteridentity WHERE external_id = 'reporter of safe'",
        "safe",
    ),
    "item of another sender": Harm(
        "V1",
        "UPDATE reports_item SET sender_id = (SELECT id FROM reports_sender WHERE name = 'forum')"
        " WHERE id = @new",
        "new",
    ),
    "key twice": Harm(
        "V1",
        "ALTER TABLE reports_report DROP CONSTRAINT one_report_per_sender_and_key;"
        "UPDATE reports_report SET idempotency_key = 'twice' WHERE id IN (:new, :safe)",
        "new safe one_report_per_sender_and_key",
    ),
    "called judged by nobody": Harm(
        "V2", MOVE.format(to="needs_review", name="new", at="NULL"), "new"
    ),
    "closed by an invalidation, and judged by nobody": Harm(
        "V2", MOVE.format(to="resolved", name="unread", at="now()"), "unread"
    ),
    "two current": Harm(
        "V3",
        "DROP INDEX one_current_classification_per_report;"
        "UPDATE classifier_classification SET superseded = false WHERE report_id = :newer",
        "newer one_current_classification_per_report",
    ),
    "two verdicts of a version": Harm(
        "V4",
        "ALTER TABLE classifier_classification"
        f" DROP CONSTRAINT one_classification_per_report_and_version; {COPY}",
        "unsafe one_classification_per_report_and_version",
    ),
    "two jobs of a version": Harm(
        "V4",
        f"ALTER TABLE classifier_job DROP CONSTRAINT one_job_per_report_and_version; {COPY_JOB}",
        "parked one_job_per_report_and_version",
    ),
    "an older version counts": Harm(
        "V5",
        "UPDATE classifier_classification SET superseded = true WHERE report_id = :newer;"
        "UPDATE classifier_classification SET superseded = false"
        " WHERE report_id = :newer AND policy_version_id = 1",
        "newer",
    ),
    "unsafe called safe": Harm(
        "V6", MOVE.format(to="judged_safe", name="unsafe", at="NULL"), "unsafe"
    ),
    "resolved comes back by itself": Harm(
        "V6", MOVE.format(to="needs_review", name="resolved", at="NULL"), "resolved"
    ),
    "resolved by nobody": Harm(
        "V6", MOVE.format(to="resolved", name="unsafe", at="now()"), "unsafe"
    ),
    "pending after a decision": Harm(
        "V6", MOVE.format(to="pending", name="decided", at="NULL"), "decided"
    ),
    "safe above a floor": Harm(
        "V6",
        "UPDATE reports_report SET floor = 2, rank = 2 WHERE id = :safe; UPDATE reports_item"
        " SET rank = 2 WHERE id = @safe",
        "safe",
    ),
    "unsafe called safe, and nobody is to see it": Harm(
        "V6",
        "UPDATE classifier_disagreement SET state = 'settled', ended_at = now()"
        " WHERE report_id = :disagreeing",
        "disagreeing",
    ),
    "a disagreement of an older verdict": Harm(
        "V6",
        "UPDATE classifier_disagreement SET classification_id = (SELECT id"
        " FROM classifier_classification WHERE report_id = :disagreeing AND superseded)"
        " WHERE report_id = :disagreeing",
        "disagreeing",
    ),
    "an open disagreement that people know of": Harm(
        "V6",
        "INSERT INTO classifier_disagreement (classification_id, report_id, severity, unseen, state)"
        " SELECT id, report_id, severity, true, 'open' FROM classifier_classification"
        " WHERE report_id = :unsafe",
        "unsafe",
    ),
    "back in review without a reason": Harm(
        "V6",
        "UPDATE classifier_disagreement SET state = 'settled' WHERE report_id = :returned",
        "returned",
    ),
    "back in review for what was decided since": Harm(
        "V6",
        f"UPDATE classifier_disagreement SET ended_at = {AGO} WHERE report_id = :returned",
        "returned",
    ),
    "an audit that does not know its answer": Harm(
        "V6",
        f"{AUDIT} SELECT stratum.id, verdict.id, verdict.report_id FROM stratum,"
        " classifier_classification AS verdict WHERE verdict.report_id IN (:resolved, :reopened)",
        "resolved",
    ),
    "an audit that was answered by nobody": Harm(
        "V6",
        f"{AUDIT} SELECT stratum.id, verdict.id, verdict.report_id FROM stratum,"
        " classifier_classification AS verdict WHERE verdict.report_id = :safe;"
        "UPDATE reviews_blindaudit SET decision_id = (SELECT min(id) FROM reviews_decision)",
        "safe",
    ),
    "a rank of nowhere": Harm(
        "V6",
        "UPDATE reports_report SET rank = 4 WHERE id = :new; UPDATE reports_item"
        " SET rank = 4 WHERE id = @new",
        "new",
    ),
    "an unsure verdict passes": Harm(
        "V6",
        "UPDATE classifier_classification SET confidence = 0.1 WHERE report_id = :safe",
        "safe",
    ),
    "a severity of nowhere": Harm(
        "V6",
        "UPDATE classifier_classification SET severity = 4"
        " WHERE report_id = :newer AND policy_version_id = 1",
        "newer",
    ),
    "an item in the wrong list": Harm(
        "V6",
        "UPDATE reports_item SET list = 'judged_safe' WHERE id = @new",
        "item of new",
    ),
    "an item older than its reports": Harm(
        "V6",
        f"UPDATE reports_item SET since = {AGO} WHERE id = @safe",
        "item of safe",
    ),
    "an item due at another time": Harm(
        "V6", f"UPDATE reports_item SET due_at = {AGO} WHERE id = @waiting", "item of waiting"
    ),
    "resolved at no time": Harm(
        "V6",
        "UPDATE reports_item SET resolved_at = NULL WHERE id = @resolved",
        "item of resolved",
    ),
    "counts for nothing, and nobody said so": Harm(
        "V6", "UPDATE reports_report SET invalidated_at = now() WHERE id = :new", "new"
    ),
    "counts again, and is closed still": Harm(
        "V6",
        "UPDATE reports_report SET invalidated_at = NULL WHERE id = :discounted",
        "discounted",
    ),
    "closed by an invalidation that was revoked": Harm(
        "V6",
        "UPDATE reports_invalidation SET revoked_at = now() WHERE pseudonym ="
        " (SELECT reporter_pseudonym FROM reports_report WHERE id = :discounted)",
        "discounted",
    ),
    "brought back and not seen": Harm(
        "V6",
        "UPDATE reports_report SET status = 'resolved' WHERE id = :recalled;"
        "UPDATE reports_item SET list = 'pending', since = (SELECT received_at FROM reports_report"
        " WHERE id = :again) WHERE id = @recalled",
        "recalled",
    ),
    "brought back by reports about another item": Harm(
        "V6", "UPDATE reports_return SET item_id = @safe", "recalled"
    ),
    "brought back for what was decided since": Harm(
        "V6", f"UPDATE reports_return SET returned_at = {AGO}", "recalled"
    ),
    "a decision about another item": Harm(
        "V6",
        "UPDATE reviews_decision SET item_id = @new WHERE action = 'warn'",
        "decided",
    ),
    "a wait for a second person whom nobody called": Harm(
        "V6",
        "INSERT INTO reviews_hold (item_id, kind, placed_by_id) SELECT @unsafe, 'second_approval', id"
        " FROM auth_user WHERE username = 'dana'",
        "item of unsafe",
    ),
    "an escalation that waits for nobody": Harm(
        "V6",
        "UPDATE reviews_decision SET action = 'escalate' WHERE action = 'reopen'",
        "item of reopened",
    ),
    "a proposal that counts": Harm(
        "V6",
        "UPDATE reviews_decision SET action = 'reopen' WHERE action = 'warn'",
        "decided",
    ),
    "more tries than claims": Harm(
        "V7", "UPDATE classifier_job SET faults = 9 WHERE report_id = :waiting", "waiting"
    ),
    "a verdict that nobody asked for": Harm(
        "V7", "DELETE FROM classifier_job WHERE report_id = :safe", "safe"
    ),
    "closed without a verdict": Harm(
        "V7", "UPDATE classifier_job SET done = true WHERE report_id = :decided", "decided"
    ),
    "an ended batch that is not at its end": Harm("V7", JOB_OF_BATCH.format(done="false"), "safe"),
    "an answer of a batch that is nowhere": Harm("V7", JOB_OF_BATCH.format(done="true"), "safe"),
    "a question of a batch without its outcome": Harm(
        "V7", "UPDATE classifier_batchline SET outcome = ''", "disagreeing"
    ),
    "a verdict of a batch that never asked": Harm(
        "V7", "DELETE FROM classifier_batchline", "disagreeing"
    ),
    "still to be asked though carried over": Harm(
        "V7",
        "UPDATE classifier_job SET done = false WHERE report_id = :carried AND batch_id IS NOT NULL",
        "carried",
    ),
    "content changed": Harm(
        "V8",
        "UPDATE reports_content SET body = jsonb_set(body, '{messages,0,text}', '\"Harmless.\"')"
        " WHERE report_id = :new",
        "new",
    ),
    "fingerprint changed": Harm(
        "V8", "UPDATE reports_report SET fingerprint = '\\x00' WHERE id = :safe", "safe"
    ),
    "reporter changed": Harm(
        "V8",
        "UPDATE reports_reporteridentity SET external_id = 'u-1'"
        " WHERE external_id = 'reporter of new'",
        "new",
    ),
    "item renamed": Harm(
        "V8",
        "UPDATE reports_item SET external_id = 'another' WHERE id = @new",
        "new",
    ),
    "attempts beyond the bound": Harm(
        "V9",
        "ALTER TABLE classifier_job DROP CONSTRAINT job_attempts_are_bounded;"
        "UPDATE classifier_job SET attempts = 4, claims = 9 WHERE report_id = :parked",
        "parked",
    ),
    "a lease for ever": Harm(
        "V9",
        "UPDATE classifier_job SET lease_until = 'infinity' WHERE report_id = :leased",
        "leased",
    ),
    "a dead holder without a taker": Harm(
        "V9", f"UPDATE classifier_job SET lease_until = {AGO} WHERE report_id = :leased", "leased"
    ),
    "a dead last holder": Harm(
        "V9",
        f"UPDATE classifier_job SET lease_until = {AGO}, attempts = 3, claims = 3"
        " WHERE report_id = :leased",
        "leased",
    ),
    "an answer without its hash": Harm(
        "V10",
        "UPDATE classifier_classification SET answer_hash = '' WHERE report_id = :safe",
        "safe",
    ),
    "closed and pending": Harm(
        "V11",
        "UPDATE classifier_job SET done = true, lease_until = NULL WHERE report_id = :leased",
        "leased",
    ),
    "waiting without a reason": Harm(
        "V11", "UPDATE classifier_job SET reason = '' WHERE report_id = :waiting", "waiting"
    ),
    "waiting for ever": Harm(
        "V11",
        "UPDATE classifier_job SET not_before = 'infinity' WHERE report_id = :waiting",
        "waiting",
    ),
    "parked without a reason": Harm(
        "V11",
        "ALTER TABLE classifier_job DROP CONSTRAINT job_parked_needs_a_reason;"
        "UPDATE classifier_job SET reason = '' WHERE report_id = :parked",
        "parked",
    ),
    "no attempts left and not parked": Harm(
        "V11",
        "UPDATE classifier_job SET attempts = 3, claims = 3, lease_until = NULL"
        " WHERE report_id = :leased",
        "leased",
    ),
}


def lose_content() -> None:
    """102 reports without their content."""
    make_many("crowd", 102)
    with unguarded() as cursor:
        cursor.execute("DELETE FROM reports_content")
