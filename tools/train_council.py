"""Learn the weights of recorded judges that Salon ships.

This is the recipe, not part of the package. How good they are says `salon eval council`.

    python -m tools.train_council --data FOLDER
"""

import argparse

from salon.council.judge_weights import WEIGHTS, JudgesFile
from salon.council.judges import JudgeWeights, learn_weights, plain_log_odds
from salon.evaluation.council_data import read_votes
from tools.data_folder import add_data_option


def rounded(weights: JudgeWeights) -> dict[str, float]:
    return {judge: round(weight, 4) for judge, weight in weights.weights.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add_data_option(parser)
    votes = read_votes(parser.parse_args().data / "llmbar" / "votes.csv.gz")
    file = JudgesFile(
        kinds=sorted(set(votes.panel.kinds)),
        items=len(votes.panel.items),
        weights=rounded(learn_weights(votes.panel, votes.truth)),
        log_odds=rounded(plain_log_odds(votes.panel, votes.truth)),
    )
    WEIGHTS.write_text(file.model_dump_json(indent=1) + "\n", encoding="utf-8")
    print(f"{len(file.weights)} judges from {file.items} items")


if __name__ == "__main__":
    main()
