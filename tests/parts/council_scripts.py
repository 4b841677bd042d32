"""A scripted chat model that can hold a seat: it answers every question in the right form."""

import json
from pathlib import Path

DRAFT = {
    "title": "The lamp",
    "sections": [
        {"heading": "What is known", "sentences": [{"text": "", "evidence": [1]}]},
        {"heading": "What follows", "sentences": [{"text": "", "evidence": [2]}]},
    ],
}
GRADES = {"accuracy": 9, "depth": 8, "pedagogy": 9, "rationale": "All of it is quoted."}


def write_script(path: Path) -> str:
    """Write the script of such a model, and return its address."""
    lines = [
        {"when": "Which searches in the archive", "say": json.dumps({"queries": ["lamp oil"]})},
        {"when": "Write the chapter:", "say": json.dumps(DRAFT)},
        {"when": "Say what is wrong", "say": json.dumps({"feedback": "Name the years."})},
        {"when": "Grade it, each from 1 to 10", "say": json.dumps(GRADES)},
        {"when": "Write the system prompt", "say": json.dumps({"soul": "Be exact."})},
    ]
    path.write_text(json.dumps(lines), "utf-8")
    return f"scripted:{path}"
