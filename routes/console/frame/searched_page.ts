// What a page of a list is asked for: how names begin, and behind which one it goes on.
import type { Context } from "hono";
import { isSlug } from "../../../lib/access/slug.ts";
import type { SlugPageInput } from "../../../lib/control/list_page.ts";
import type { ShownPage } from "../../../lib/services/shown_page.ts";
import type { Env } from "../../http/env.ts";

/** One page of a list, and how it was found. */
export interface SearchedPage<View> extends ShownPage<View> {
  /** What the slugs of those that are shown begin with; empty: anything. */
  readonly find: string;
  /** There are others too, or may be. */
  readonly isPart: boolean;
}

/** Reads the page that `?find=` and `?after=` ask for. Errors: those of `list`. */
export async function searchedPage<View>(
  c: Context<Env>,
  pageSize: number,
  list: (page: SlugPageInput) => Promise<ShownPage<View>>,
): Promise<SearchedPage<View>> {
  const [cursor, find] = [c.req.query("after") ?? null, c.req.query("find")?.trim().toLowerCase() ?? ""];
  // No slug begins with what cannot be one.
  const { items, nextCursor } = find === "" || isSlug(find)
    ? await list({ prefix: find, cursor, pageSize })
    : { items: [], nextCursor: null };
  return { items, nextCursor, find, isPart: find !== "" || cursor !== null || nextCursor !== null };
}

/** The query of the page behind it. */
export function furtherQuery(
  { find, nextCursor }: Pick<SearchedPage<unknown>, "find" | "nextCursor">,
): string {
  return `?${new URLSearchParams({ ...(find === "" ? {} : { find }), after: nextCursor ?? "" })}`;
}
