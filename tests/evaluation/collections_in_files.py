"""A small collection of real sentences, written in BEIR's layout."""

import json
from dataclasses import dataclass
from pathlib import Path

DOCUMENTS = {
    "rain": ("On rain", "Rain falls when drops in a cloud grow too heavy for the air to carry."),
    "snow": ("On snow", "Snow forms where water vapour freezes into crystals inside a cloud."),
    "bread": ("Baking bread", "Yeast makes the dough rise; the oven turns it into a loaf."),
    "cake": ("Baking cakes", "Sugar, butter and eggs are beaten before flour is folded in."),
    "fish": ("Common fisheries", "Fishers who share a coast agree on who may fish, and when."),
    "forest": ("Common forests", "Villagers watch over the forest and punish those who cut."),
    "twin": ("On rain", "Rain falls when drops in a cloud grow too heavy for the air to carry."),
    "untitled": ("", "A violin has four strings, tuned in fifths, and is played with a bow."),
    "empty": ("", " "),
}
QUERIES = {
    "q1": "why does rain fall from a cloud",
    "q2": "how do users of a shared fishery avoid overfishing",
    "q3": "what makes dough rise",
    "q4": "an instrument with four strings",
    "nobody": "who wrote the opera",
}
JUDGEMENTS = [
    ("q1", "rain", 2),
    ("q1", "twin", 2),
    ("q1", "snow", 1),
    ("q2", "fish", 1),
    ("q2", "lost", 1),
    ("q2", "forest", 0),
    ("q3", "bread", 1),
    ("q4", "untitled", 1),
    ("nobody", "cake", 0),
]


@dataclass(frozen=True, slots=True)
class Files:
    """Where the three files of a collection are."""

    corpus: Path
    queries: Path
    qrels: Path

    def options(self) -> list[str]:
        return [
            *("--corpus", str(self.corpus)),
            *("--queries", str(self.queries)),
            *("--qrels", str(self.qrels)),
        ]


def write_collection(folder: Path) -> Files:
    files = Files(folder / "corpus.jsonl", folder / "queries.jsonl", folder / "qrels.tsv")
    files.corpus.write_text(
        "".join(
            json.dumps({"_id": name, "title": title, "text": text}) + "\n"
            for name, (title, text) in DOCUMENTS.items()
        )
    )
    files.queries.write_text(
        "".join(json.dumps({"_id": name, "text": text}) + "\n" for name, text in QUERIES.items())
    )
    rows = "".join(f"{query}\t{document}\t{grade}\n" for query, document, grade in JUDGEMENTS)
    files.qrels.write_text("query-id\tcorpus-id\tscore\n" + rows)
    return files


HOP_DOCUMENTS = {
    "La Yuma": "La Yuma is a Nicaraguan film about a young boxer, directed by Florence Jaugey.",
    "Florence Jaugey": "Florence Jaugey is a film director who was born in Nice, France.",
    "Nice": "Nice is a city on the Mediterranean coast of France.",
    "Managua": "Managua is the capital of Nicaragua, on the shore of a lake.",
    "Bread": "Bread is baked from flour, water, salt and yeast.",
}
HOP_QUESTIONS = [
    (
        "h1",
        "compositional",
        "Where was the director of La Yuma born?",
        ["La Yuma", "Florence Jaugey"],
    ),
    ("h2", "comparison", "Do Nice and Managua lie in one country?", ["Nice", "Managua"]),
    ("h3", "comparison", "Who is older?", ["Nobody", "Nice"]),
]


def write_hops(folder: Path) -> list[str]:
    """Write questions that need several documents; return the options that name the files."""
    corpus, questions = folder / "hop_corpus.jsonl", folder / "hop_questions.jsonl"
    corpus.write_text(
        "".join(
            json.dumps({"_id": str(number), "title": title, "text": text}) + "\n"
            for number, (title, text) in enumerate(HOP_DOCUMENTS.items())
        )
    )
    questions.write_text(
        "".join(
            json.dumps({"id": id_, "type": kind, "question": text, "supporting_titles": titles})
            + "\n"
            for id_, kind, text, titles in HOP_QUESTIONS
        )
    )
    return ["--corpus", str(corpus), "--questions", str(questions)]
