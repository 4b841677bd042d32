"""The graph of a plan as SVG: steps in layers from left to right, slots on the arrows.

Drawn by hand, without any library, in colours that follow the reader's light or dark mode.
"""

from dataclasses import dataclass
from html import escape

from salon.blackboard.checking import AnyStep, Plan
from salon.blackboard.triggers import in_words

_WIDTH, _HEIGHT = 176, 56
_GAP_X, _GAP_Y = 84, 26
_MARGIN = 24
_STYLE = (
    "text{font:12px system-ui,sans-serif;fill:#777}"
    ".n{font-weight:600;fill:#4a7fb5}"
    ".s{fill:#7d8a97;font-size:11px}"
    "rect{fill:#fff;stroke:#888}"
    "path{fill:none;stroke:#8a94a0;stroke-width:1.2;opacity:.75}"
    "#head path{fill:#8a94a0;stroke:none}"
    "@media(prefers-color-scheme:dark){rect{fill:#181a1f}text{fill:#aaa}.n{fill:#8ab8e6}}"
)


@dataclass(frozen=True, slots=True)
class _Box:
    step: AnyStep
    x: int
    y: int


def draw_svg(plan: Plan) -> str:
    """Return the steps, what each writes and when, and who waits for whom."""
    layers = plan.layers()
    boxes = _places(layers)
    width = 2 * _MARGIN + len(layers) * (_WIDTH + _GAP_X) - _GAP_X
    height = 2 * _MARGIN + max((box.y for box in boxes.values()), default=0) + _HEIGHT
    lines = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            f'width="{width}" height="{height}" role="img">'
        ),
        "<title>Steps of a turn, in the order that follows from what they read</title>",
        f"<style>{_STYLE}</style>",
        (
            '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
            'markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z"/></marker></defs>'
        ),
        f'<g transform="translate({_MARGIN} {_MARGIN})">',
        *(_arrow(boxes[before], boxes[after]) for before, after in _edges(plan)),
        *(part for box in boxes.values() for part in _box(box)),
        "</g>",
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _places(layers: tuple[tuple[AnyStep, ...], ...]) -> dict[str, _Box]:
    tallest = max((len(layer) for layer in layers), default=0)
    found: dict[str, _Box] = {}
    for column, layer in enumerate(layers):
        top = (tallest - len(layer)) * (_HEIGHT + _GAP_Y) // 2
        for row, step in enumerate(layer):
            x, y = column * (_WIDTH + _GAP_X), top + row * (_HEIGHT + _GAP_Y)
            found[step.name] = _Box(step, x, y)
    return found


def _edges(plan: Plan) -> list[tuple[str, str]]:
    """Return who waits for whom, without what follows from the rest: the picture stays readable."""
    above: dict[str, set[str]] = {}
    for step in plan.steps:
        needs = plan.needs[step.name]
        above[step.name] = set(needs).union(*(above[one] for one in needs))
    return [
        (one, step.name)
        for step in plan.steps
        for one in sorted(plan.needs[step.name])
        if not any(one in above[other] for other in plan.needs[step.name] if other != one)
    ]


def _arrow(start: _Box, end: _Box) -> str:
    x1, y1 = start.x + _WIDTH, start.y + _HEIGHT // 2
    x2, y2 = end.x, end.y + _HEIGHT // 2
    bend = max(_GAP_X // 2, (x2 - x1) // 2)
    slot = escape(start.step.writes.name)
    path = f"M{x1} {y1}C{x1 + bend} {y1} {x2 - bend} {y2} {x2 - 1} {y2}"
    return f'<path d="{path}" marker-end="url(#head)"><title>{slot}</title></path>'


def _box(box: _Box) -> list[str]:
    step = box.step
    texts = (
        (17, "n", step.name),
        (33, "s", f"→ {step.writes.name}"),
        (48, "s", in_words(step.when)),
    )
    return [
        f'<g transform="translate({box.x} {box.y})"><title>{escape(step.about)}</title>',
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" rx="8"/>',
        *(
            f'<text x="10" y="{y}" class="{kind}">{escape(_fitted(text))}</text>'
            for y, kind, text in texts
        ),
        "</g>",
    ]


def _fitted(text: str, most: int = 28) -> str:
    return text if len(text) <= most else text[: most - 1].rstrip(" ,") + "…"
