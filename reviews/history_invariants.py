"""The invariants of what is looked at again: batches, disagreements between verdicts, blind audits."""
# ruff: noqa: S608 - the statements are put together from our own constants

from reviews.invariant_queries import CURRENT, Rule
from reviews.quality.answers import ANSWER

HISTORY_RULES = (
    Rule(
        "V6",
        "reports with an open disagreement that their verdict and status do not bear out",
        f"""
    SELECT report.id FROM classifier_disagreement AS disagreement
    JOIN reports_report AS report ON report.id = disagreement.report_id {CURRENT}
    WHERE disagreement.state = 'open' AND (
        current.id = disagreement.classification_id AND NOT current.safe AND (
            report.status = 'judged_safe'
            OR report.status = 'resolved' AND report.upheld_at IS NULL)) IS NOT TRUE""",
    ),
    Rule(
        "V6",
        "reports whose blind audit has not the answer that the decisions give",
        f"""
    SELECT audit.report_id FROM reviews_blindaudit AS audit
    WHERE audit.decision_id IS DISTINCT FROM {ANSWER}""",
    ),
    Rule(
        "V7",
        "reports with an open job in a batch that has ended",
        """
    SELECT job.report_id FROM classifier_batch AS batch
    JOIN classifier_job AS job ON job.batch_id = batch.id
    WHERE batch.state IN ('done', 'cancelled') AND NOT job.done AND NOT job.parked""",
    ),
    Rule(
        "V7",
        "reports whose question in a recorded batch of the provider has no outcome",
        """
    SELECT job.report_id FROM classifier_providerbatch AS remote
    JOIN classifier_batchline AS line ON line.provider_batch_id = remote.id
    JOIN classifier_job AS job ON job.id = line.job_id
    WHERE remote.state IN ('recorded', 'done') AND line.outcome = ''""",
    ),
)
