"""How much one source may cost: the numbers that the sandbox holds its readers to."""

from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What reading one source may take. `cpu_s` counts whole seconds, as the system does."""

    memory_bytes: int = 1 << 30
    cpu_s: int = 60
    wall_s: float = 90.0
    input_bytes: int = 200_000_000
    output_bytes: int = 100_000_000

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if value <= 0:
                raise ValueError(f"{name} must be more than 0, not {value}")
