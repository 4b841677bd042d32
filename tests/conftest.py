"""Settings that all tests share: how hypothesis searches, here and in CI."""

import os

from hypothesis import HealthCheck, settings

# Disks and shared cores make single examples slow now and then, so there is no deadline.
_QUIET = (HealthCheck.too_slow, HealthCheck.data_too_large)
settings.register_profile("salon", deadline=None, max_examples=60, suppress_health_check=_QUIET)
settings.register_profile("ci", settings.get_profile("salon"), derandomize=True, database=None)
settings.load_profile("ci" if os.environ.get("CI") else "salon")
