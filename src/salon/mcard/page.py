"""One page of a longer list, with MCard's field names."""

from dataclasses import dataclass
from typing import Generic, Self, TypeVar

from salon.mcard.errors import InvalidArgument

T = TypeVar("T")
DEFAULT_PAGE_SIZE = 10


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """Some of the items, and where they stand among all of them. Pages count from 1."""

    items: list[T]
    page_number: int
    page_size: int
    total_items: int
    total_pages: int
    has_next: bool
    has_previous: bool

    @classmethod
    def create(cls, items: list[T], total_items: int, page_number: int, page_size: int) -> Self:
        """Return a page with everything that follows from these four worked out."""
        return cls(
            items=items,
            page_number=page_number,
            page_size=page_size,
            total_items=total_items,
            total_pages=-(-total_items // page_size),
            has_next=page_number * page_size < total_items,
            has_previous=page_number > 1,
        )

    @property
    def next_page_number(self) -> int | None:
        """The number of the next page, if there is one."""
        return self.page_number + 1 if self.has_next else None

    @property
    def previous_page_number(self) -> int | None:
        """The number of the page before, if there is one."""
        return self.page_number - 1 if self.has_previous else None


def page_bounds(page_number: int, page_size: int | None) -> tuple[int, int]:
    """Return the page size that counts and how many items stand before the page."""
    size = DEFAULT_PAGE_SIZE if page_size is None else page_size
    if page_number < 1 or size < 1:
        raise InvalidArgument(
            f"there is no page {page_number} of {size} items", hint="both count from 1"
        )
    return size, (page_number - 1) * size
