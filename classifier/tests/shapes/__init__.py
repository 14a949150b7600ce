import pytest

# Its assertions show their values, as those of a test do.
pytest.register_assert_rewrite("classifier.tests.shapes_trial")
