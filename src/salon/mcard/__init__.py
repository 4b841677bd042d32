"""MCard's interface over Salon's archive, for code that was written for the `mcard` package.

It translates and never decides: what a card is, when a handle moves and what may be deleted is the
archive's affair. `from salon.mcard import MCard, CardCollection` stands for `from mcard import …`.
"""

from salon.mcard.card import MCard
from salon.mcard.collection import CardCollection

__all__ = ["CardCollection", "MCard"]
