type Page = unknown[] | { cursor?: string; hasMore?: boolean; page?: number; totalPages?: number; data?: unknown };
type Position = { cursor: string } | { page: number };

/** Where the next page begins; undefined after the last one. */
function positionAfter(page: Page): Position | undefined {
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
 * Each item of a list, page after page. The next page is read when the last item of a page was taken.
 * @param read returns the page at a position; the first page when it is undefined
 */
export async function* eachItem(read: (position: Position | undefined) => Promise<unknown>): AsyncGenerator {
  let position: Position | undefined;
  do {
    const page = (await read(position)) as Page;
    yield* itemsOf(page);
    position = positionAfter(page);
  } while (position);
}
