"""What holds for every test: Hypothesis sets no deadline, since the machine may be busy with something else."""

from hypothesis import settings

settings.register_profile("retrograd", deadline=None)
settings.load_profile("retrograd")
