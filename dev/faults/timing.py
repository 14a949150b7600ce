"""The times of the bench's installation, and what a recovery may take. All in seconds."""

MODEL_DEADLINE = 2.0
RECORDING = 3.0
LEASE = MODEL_DEADLINE + RECORDING
VISIBILITY_TIMEOUT = 6
SWEEP_INTERVAL = 0.5
MODEL_DELAY = 0.15
QUEUE_BOUND = 100
SHOTS = 4
"""How often a fail point may fire in one case."""

STOPPED_FOR = LEASE + 1.5
"""How long a process stays stopped: past its leases."""
TASK = MODEL_DEADLINE
# The first wait after an error of ours or of the provider, with its jitter; see classifier/jobs.py.
FIRST_WAIT = 5.0 * 1.2

# Whichever is longer of a dead holder's lease and a named wait, then one sweep, then one task.
RECOVERY_BOUND = max(LEASE, FIRST_WAIT) + SWEEP_INTERVAL + TASK
SLACK_OF_TESTS = 2.0
"""How much longer a recovery may take among the tests, on a machine that does other work too."""

# Without a sweep the broker brings a dead worker's messages back: its timeout, then its own round,
# which comes about every 5 s.
REDELIVERY_BOUND = VISIBILITY_TIMEOUT + 6.0 + TASK
# An orderly stop waits for running calls (CELERY_WORKER_SOFT_SHUTDOWN_TIMEOUT); then it starts again.
ORDERLY_STOP = MODEL_DEADLINE + 5.0
QUIET_SECONDS = 60.0
"""How long a case may take in all before it counts as broken."""

ENVIRONMENT = {
    "ENVIRONMENT": "test",
    "MODEL_DEADLINE_SECONDS": str(MODEL_DEADLINE),
    "RECORDING_SECONDS": str(RECORDING),
    "VISIBILITY_TIMEOUT_SECONDS": str(VISIBILITY_TIMEOUT),
    "SWEEP_INTERVAL_SECONDS": str(SWEEP_INTERVAL),
    "QUEUE_BOUND": str(QUEUE_BOUND),
    "INTAKE_RATE": "1000000/min",
}
