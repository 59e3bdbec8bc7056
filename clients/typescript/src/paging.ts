type Page = unknown[] | { cursor?: string; hasMore?: boolean; page?: number; totalPages?: number; data?: unknown };
type Place = { cursor: string } | { page: number };

/** Where the next page begins; undefined after the last one. */
function placeAfter(page: Page): Place | undefined {
  if (Array.isArray(page)) return undefined;
  if (page.hasMore && page.cursor) return { cursor: page.cursor };
  const { page: number = 1, totalPages = 1 } = page;
  return number < totalPages ? { page: number + 1 } : undefined;
}

/** The items of a page, whatever its list is called. */
function itemsOf(page: Page): unknown[] {
  if (Array.isArray(page)) return page;
  return (Object.values(page).find(Array.isArray) as unknown[] | undefined) ?? [];
}

/**
 * Each item of a list, page after page; the next page is asked for when the last item of one was taken.
 * @param read answers with a page: the first one, or the one at a place
 */
export async function* eachItem(read: (place: Place | undefined) => Promise<unknown>): AsyncGenerator {
  let place: Place | undefined;
  do {
    const page = (await read(place)) as Page;
    yield* itemsOf(page);
    place = placeAfter(page);
  } while (place);
}
