"""Things with the year they came into the world: what an avatar of an earlier time cannot know.

Facts of common knowledge, by the year of invention or first wide use. A question that names one
later than a corpus ends gets an honest limit instead of a search. Another thing is another line.
"""

import re
from functools import cache

YEARS: dict[str, int] = {
    "telephone": 1876, "phonograph": 1877, "light bulb": 1879, "automobile": 1886,
    "cinema": 1895, "radio": 1896, "x-ray": 1895, "airplane": 1903, "aeroplane": 1903,
    "relativity theory": 1905, "theory of relativity": 1905, "assembly line": 1913,
    "world war i": 1914, "first world war": 1914, "soviet union": 1922, "television": 1927,
    "penicillin": 1928, "great depression": 1929, "new deal": 1933, "radar": 1935,
    "world war ii": 1939, "second world war": 1939, "jet engine": 1939, "nuclear weapon": 1945,
    "nuclear weapons": 1945, "atomic bomb": 1945, "united nations": 1945, "cold war": 1947,
    "transistor": 1947, "nato": 1949, "nuclear power": 1951, "dna": 1953, "sputnik": 1957,
    "space race": 1957, "satellite": 1957, "satellites": 1957, "laser": 1960, "vietnam war": 1955,
    "moon landing": 1969, "internet": 1983, "email": 1971, "e-mail": 1971,
    "personal computer": 1977, "computer": 1945, "computers": 1945, "mobile phone": 1983,
    "climate change": 1975, "global warming": 1975, "world wide web": 1991, "website": 1991,
    "european union": 1993, "euro currency": 1999, "google": 1998, "wikipedia": 2001,
    "september 11": 2001, "9/11": 2001, "social media": 2003, "facebook": 2004, "youtube": 2005,
    "twitter": 2006, "smartphone": 2007, "iphone": 2007, "bitcoin": 2009, "cryptocurrency": 2009,
    "blockchain": 2009, "uber": 2009, "instagram": 2010, "tiktok": 2016, "covid": 2019,
    "covid-19": 2019, "chatgpt": 2022, "artificial intelligence": 1956, "machine learning": 1959,
    "large language model": 2018, "large language models": 2018, "gene editing": 2012,
    "genetic engineering": 1973, "internet of things": 1999, "electric car": 1890,
}  # fmt: skip
_YEAR = re.compile(r"(?<![\d$€£.,])(1[0-9]{3}|20[0-9]{2}|21[0-9]{2})(?![\d%]|[.,]\d)")


def find_later(text: str, last_year: int | None) -> tuple[str, int] | None:
    """Return what a text names that came after a year, and when, if it names anything such."""
    if last_year is None:
        return None
    years = [int(year) for year in _YEAR.findall(text) if int(year) > last_year]
    if years:
        return str(min(years)), min(years)
    for found in _things().finditer(text):
        thing = found[0].casefold()
        if YEARS[thing] > last_year:
            return found[0], YEARS[thing]
    return None


@cache
def _things() -> re.Pattern[str]:
    names = sorted(YEARS, key=len, reverse=True)
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, names))})(?!\w)", re.IGNORECASE)
