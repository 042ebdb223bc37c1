"""What holds for every test: Hypothesis sets no deadline, since the machine may be busy with something else.

Nor does it matter which tests ran before: what is warned of once a process is warned of every time.
"""

from hypothesis import settings

import retrograd

retrograd.set_warn_always(True)

settings.register_profile("retrograd", deadline=None)
settings.load_profile("retrograd")
