"""The invariants as SQL: each statement selects what breaks one rule, and nothing where it holds.

No rule repeats another, so that what is broken is named once.
"""
# ruff: noqa: S608 - the statements are put together from our own constants

from dataclasses import dataclass


@dataclass(frozen=True)
class Rule:
    """`sql` selects one column: ids of reports, or names where `of_reports` is false."""

    invariant: str
    sentence: str
    sql: str
    of_reports: bool = True


def _enforced(invariant: str, *keys: str) -> Rule:
    wanted = ", ".join(f"('{key}')" for key in keys)
    sql = f"""
    SELECT wanted.name FROM (VALUES {wanted}) AS wanted (name) WHERE NOT EXISTS (
        SELECT FROM pg_index JOIN pg_class AS class ON class.oid = pg_index.indexrelid
        WHERE class.relname = wanted.name AND indisunique AND indisvalid
            AND pg_table_is_visible(class.oid))"""
    sentence = "unique keys that the database does not enforce"
    return Rule(invariant, sentence, sql, of_reports=False)


def _doubled(table: str, *columns: str, where: str = "true") -> str:
    """The reports of rows that a unique key should have refused: an index may be damaged."""
    report_id = "id" if table == "reports_report" else "report_id"
    return f"""
    SELECT DISTINCT {report_id} FROM (
        SELECT {report_id}, count(*) OVER (PARTITION BY {", ".join(columns)}) AS copies
        FROM {table} WHERE {where}) AS counted
    WHERE copies > 1"""


CURRENT = """LEFT JOIN classifier_classification AS current
        ON current.report_id = report.id AND NOT current.superseded"""

# Decisions and proposals that nobody took back, and whether they leave the reports to people.
_STANDING = """
    standing AS (
        SELECT decision.*, action.outcome,
            decision.kind = 'proposal' OR action.outcome IN ('reopens', 'escalates') AS reopened
        FROM reviews_decision AS decision JOIN reviews_action AS action ON action.slug = decision.action
        WHERE NOT EXISTS (SELECT FROM reviews_decision AS undo
            WHERE undo.overrides_id = decision.id AND undo.kind = 'undo'))"""

# Each report's last one: did it send the report back to review, and when?
_DECIDED = f"""
    WITH {_STANDING}, last AS (
        SELECT DISTINCT ON (decided.report_id)
            decided.report_id, decision.created_at, decision.reopened
        FROM reviews_decidedreport AS decided
        JOIN standing AS decision ON decision.id = decided.decision_id
        ORDER BY decided.report_id, decision.id DESC)
"""

# What a pending report's job says under the active version.
_WAITING = """
    FROM reports_report AS report JOIN classifier_job AS job ON job.report_id = report.id
    JOIN classifier_policyversion AS version
        ON version.number = job.policy_version_id AND version.state = 'active'
    WHERE report.status = 'pending' AND """

_TRIGGERS = """
    SELECT wanted.name FROM (VALUES
        ('reports_content', 'content_is_immutable'),
        ('reports_auditentry', 'audit_is_append_only'),
        ('classifier_classification', 'verdict_stands'),
        ('classifier_policyversion', 'policy_version_stands'),
        ('reviews_decision', 'decision_stands'),
        ('reviews_decision', 'decision_may_be_said'),
        ('reviews_decision', 'report_status_agrees_with_undos'),
        ('reviews_decidedreport', 'decided_report_stands'),
        ('reviews_action', 'action_stands'),
        ('reports_report', 'report_status_agrees_on_update'),
        ('reports_report', 'report_status_agrees_on_insert'),
        ('classifier_classification', 'report_status_agrees_with_verdicts'),
        ('reports_invalidation', 'report_status_agrees_after_revoking'),
        ('reports_invalidatedreport', 'invalidated_report_stands'),
        ('reviews_draw', 'draw_stands'),
        ('reviews_stratum', 'stratum_stands'),
        ('reviews_blindaudit', 'audit_only_gets_its_answer'),
        ('reviews_doublereview', 'double_review_may_be_said')
    ) AS wanted (holder, name) WHERE NOT EXISTS (
        SELECT FROM pg_trigger
        WHERE tgrelid = to_regclass(wanted.holder) AND tgname = wanted.name AND tgenabled IN ('O', 'A'))
"""

RULES = (
    Rule(
        "V1",
        "reports without their content",
        """
    SELECT report.id FROM reports_report AS report
    LEFT JOIN reports_content AS content ON content.report_id = report.id
    WHERE content.report_id IS NULL""",
    ),
    Rule(
        "V1",
        "reports whose pseudonym stands for nobody",
        """
    SELECT report.id FROM reports_report AS report
    LEFT JOIN reports_reporteridentity AS identity
        ON identity.sender_id = report.sender_id AND identity.pseudonym = report.reporter_pseudonym
    WHERE report.reporter_pseudonym <> '' AND identity.id IS NULL""",
    ),
    Rule(
        "V1",
        "reports about another sender's item",
        """
    SELECT report.id FROM reports_report AS report
    JOIN reports_item AS item ON item.id = report.item_id
    WHERE item.sender_id <> report.sender_id""",
    ),
    Rule(
        "V1",
        "reports under one idempotency key",
        _doubled("reports_report", "sender_id", "idempotency_key"),
    ),
    _enforced(
        "V1",
        "one_report_per_sender_and_key",
        "one_item_per_sender_type_and_id",
        "one_identity_per_pseudonym",
    ),
    Rule(
        "V2",
        "reports that are not pending and that nobody has judged",
        f"""
    SELECT report.id FROM reports_report AS report {CURRENT}
    WHERE report.status <> 'pending' AND current.id IS NULL
        AND NOT EXISTS (SELECT FROM reviews_decidedreport WHERE report_id = report.id)""",
    ),
    Rule(
        "V3",
        "reports with two current verdicts",
        _doubled("classifier_classification", "report_id", where="NOT superseded"),
    ),
    _enforced("V3", "one_current_classification_per_report"),
    Rule(
        "V4",
        "reports with two verdicts under one version",
        _doubled("classifier_classification", "report_id", "policy_version_id"),
    ),
    Rule(
        "V4",
        "reports with two jobs under one version",
        _doubled("classifier_job", "report_id", "policy_version_id"),
    ),
    _enforced("V4", "one_classification_per_report_and_version", "one_job_per_report_and_version"),
    Rule(
        "V5",
        "reports whose newest version's verdict does not count",
        """
    SELECT report_id FROM classifier_classification GROUP BY report_id
    HAVING max(policy_version_id) FILTER (WHERE NOT superseded)
        IS DISTINCT FROM max(policy_version_id)""",
    ),
    Rule(
        "V6",
        "reports whose status is not what verdict and decisions say",
        # A person's last word binds: resolved, or back to review, until a newer version's
        # disagreement was reopened or several people brought it back. A verdict that a rule doubts,
        # or one beside a raised floor, is not safe; one of a batch moves nothing by itself. What has
        # neither is V2's.
        f"""{_DECIDED}
    SELECT report.id FROM reports_report AS report {CURRENT}
    LEFT JOIN last ON last.report_id = report.id
    WHERE CASE report.status
            WHEN 'pending' THEN current.id IS NULL AND last.reopened IS NOT FALSE
            WHEN 'judged_safe' THEN report.floor = 0 AND last.reopened IS NOT FALSE
                AND (current.safe OR EXISTS (SELECT FROM classifier_disagreement
                    WHERE classification_id = current.id AND state = 'open'))
            WHEN 'needs_review' THEN last.reopened IS NOT FALSE
                OR EXISTS (SELECT FROM classifier_disagreement WHERE report_id = report.id
                    AND state = 'reopened' AND ended_at >= last.created_at)
                OR EXISTS (SELECT FROM reports_return
                    WHERE report_id = report.id AND returned_at >= last.created_at)
            WHEN 'resolved' THEN last.reopened IS FALSE
                OR report.invalidated_at IS NOT NULL AND is_invalidated(report.id)
        END IS NOT TRUE
        AND (report.status = 'pending' OR current.id IS NOT NULL OR last.report_id IS NOT NULL)""",
    ),
    Rule(
        "V6",
        "reports whose rank is not the higher one of floor and verdict",
        f"""
    SELECT report.id FROM reports_report AS report {CURRENT}
    WHERE report.rank <> greatest(report.floor, current.severity)""",
    ),
    Rule(
        "V6",
        "reports with a verdict that its policy version reads otherwise",
        """
    WITH category AS (
        SELECT number, safe_threshold, each ->> 'id' AS id, (each ->> 'severity')::int AS severity,
            (each ->> 'safe')::boolean AS safe
        FROM classifier_policyversion CROSS JOIN jsonb_array_elements(categories) AS each)
    SELECT verdict.report_id FROM classifier_classification AS verdict
    LEFT JOIN category
        ON category.number = verdict.policy_version_id AND category.id = verdict.category
    WHERE verdict.severity IS DISTINCT FROM category.severity
        OR verdict.safe <> (verdict.rules = '[]')
        OR verdict.safe AND NOT (category.safe AND verdict.confidence >= category.safe_threshold)""",
    ),
    Rule(
        "V6",
        "items whose list, rank or times are not what their reports say",
        # What `reports.placing.place_items` writes.
        """
    SELECT item.id FROM reports_item AS item LEFT JOIN (
        SELECT item_id,
            CASE WHEN bool_or(status = 'needs_review') THEN 'needs_review'
                WHEN bool_or(status = 'pending') THEN 'pending'
                WHEN bool_or(status = 'judged_safe') THEN 'judged_safe'
                ELSE 'resolved' END AS list,
            coalesce(max(rank) FILTER (WHERE status IN ('needs_review', 'pending')),
                max(rank) FILTER (WHERE status = 'judged_safe'), max(rank)) AS rank,
            min(due_at) FILTER (WHERE status = 'pending') AS due_at,
            coalesce(min(received_at) FILTER (WHERE status IN ('needs_review', 'pending')),
                min(received_at) FILTER (WHERE status = 'judged_safe'), min(received_at)) AS since
        FROM reports_report GROUP BY item_id) AS told ON told.item_id = item.id
    WHERE (item.list, item.rank, item.since) IS DISTINCT FROM (told.list, told.rank, told.since)
        OR item.due_at IS DISTINCT FROM told.due_at
        OR (item.resolved_at IS NOT NULL) <> (item.list = 'resolved')""",
        of_reports=False,
    ),
    Rule(
        "V6",
        "reports that a decision about another item names",
        """
    SELECT report.id FROM reviews_decidedreport AS decided
    JOIN reviews_decision AS decision ON decision.id = decided.decision_id
    JOIN reports_report AS report ON report.id = decided.report_id
    WHERE report.item_id <> decision.item_id""",
    ),
    Rule(
        "V6",
        "reports that count as upheld while their newest decision says otherwise, or the reverse",
        # A proposal is none, and leaves it as it was.
        f"""
    WITH {_STANDING}, last AS (
        SELECT DISTINCT ON (decided.report_id)
            decided.report_id, decision.outcome = 'upholds' AS upheld
        FROM reviews_decidedreport AS decided
        JOIN standing AS decision ON decision.id = decided.decision_id
        WHERE decision.kind = 'decision'
        ORDER BY decided.report_id, decision.id DESC)
    SELECT report.id FROM reports_report AS report LEFT JOIN last ON last.report_id = report.id
    WHERE (report.upheld_at IS NOT NULL) <> coalesce(last.upheld, false)""",
    ),
    Rule(
        "V6",
        "items that wait for a person whom no decision calls, or do not wait for the one it calls",
        f"""
    WITH {_STANDING}, wanted AS (
        SELECT DISTINCT ON (item_id) item_id, CASE
            WHEN kind = 'proposal' THEN 'second_approval'
            WHEN outcome = 'escalates' THEN 'escalated' END AS kind
        FROM standing ORDER BY item_id, id DESC)
    SELECT coalesce(wanted.item_id, hold.item_id) FROM wanted FULL JOIN (
        SELECT * FROM reviews_hold WHERE ended_at IS NULL AND kind <> 'put_aside') AS hold
        ON hold.item_id = wanted.item_id
    WHERE hold.kind IS DISTINCT FROM wanted.kind""",
        of_reports=False,
    ),
    Rule(
        "V6",
        "reports that count for nothing though no invalidation that stands names them",
        """
    SELECT id FROM reports_report WHERE invalidated_at IS NOT NULL AND NOT is_invalidated(id)""",
    ),
    Rule(
        "V6",
        "reports that brought an item back and that people do not see, or that are another item's",
        # One that waits for its verdict does not pass as safe afterwards.
        """
    SELECT report.id FROM reports_return AS returned
    JOIN reports_report AS report ON report.id = returned.report_id
    WHERE returned.ended_at IS NULL AND (
        report.item_id <> returned.item_id OR report.status NOT IN ('needs_review', 'pending'))""",
    ),
    Rule(
        "V7",
        "reports whose job counts more tries than claims",
        # A claim adds one to both sides; a fault turns an attempt into a fault; all else lowers.
        """
    SELECT report_id FROM classifier_job
    WHERE attempts + faults > claims OR lease_until IS NOT NULL AND claims = 0""",
    ),
    Rule(
        "V7",
        "reports with a verdict that nobody had asked for",
        # By a call or in a provider's batch; of what is carried over nobody asks.
        """
    SELECT verdict.report_id FROM classifier_classification AS verdict
    LEFT JOIN classifier_job AS job ON job.report_id = verdict.report_id
        AND job.policy_version_id = verdict.policy_version_id
    WHERE job.id IS NULL OR NOT job.done
        OR job.claims = 0 AND verdict.carried_from_id IS NULL
            AND NOT EXISTS (SELECT FROM classifier_batchline WHERE job_id = job.id)""",
    ),
    Rule(
        "V7",
        "reports whose job was closed without a verdict",
        """
    SELECT report.id FROM classifier_job AS job
    JOIN reports_report AS report ON report.id = job.report_id
    LEFT JOIN classifier_classification AS verdict ON verdict.report_id = job.report_id
        AND verdict.policy_version_id = job.policy_version_id
    WHERE job.done AND verdict.id IS NULL AND report.status <> 'pending'""",
    ),
    Rule(
        "V9",
        "reports whose job has more attempts than the bound, or a lease longer than a lease",
        """
    SELECT report_id FROM classifier_job
    WHERE attempts NOT BETWEEN 0 AND %(attempts)s
        OR lease_until > clock_timestamp() + make_interval(secs => %(lease)s)""",
    ),
    Rule(
        "V9",
        "reports whose last holder died and that the sweep has not parked",
        """
    SELECT report_id FROM classifier_job
    WHERE attempts >= %(attempts)s AND lease_until < now() - make_interval(secs => %(grace)s)""",
    ),
    Rule(
        "V9",
        "reports whose holder died and that the sweep has not nudged",
        # A backlog beyond the queue's bound has its turns: then waiting is no fault.
        f"""
    SELECT report.id {_WAITING} job.attempts < %(attempts)s
        AND job.lease_until < now() - make_interval(secs => %(grace)s)
        AND (job.nudged_at IS NULL OR job.nudged_at < job.lease_until)
        AND (SELECT count(*) FROM (
            SELECT FROM reports_report WHERE status = 'pending' LIMIT %(bound)s + 1) AS backlog
        ) <= %(bound)s""",
    ),
    Rule(
        "V10",
        "reports with an answer without its hash",
        """
    SELECT report_id FROM classifier_classification WHERE answer_hash !~ '^[0-9a-f]{64}$'""",
    ),
    Rule("V10", "triggers that are missing or disabled", _TRIGGERS, of_reports=False),
    Rule(
        "V11",
        "pending reports that nothing will bring to a worker",
        # Not due, not leased, not parked with a reason, and no wait that a reason explains and
        # that ends within the longest time a provider may ask for.
        f"""
    SELECT report.id {_WAITING} (
        job.done OR job.parked AND job.reason = ''
        OR NOT job.parked AND (
            job.attempts >= %(attempts)s AND job.lease_until IS NULL
            OR job.not_before > now() AND job.reason = ''
            OR job.not_before > clock_timestamp() + make_interval(secs => %(longest)s)))""",
    ),
)
