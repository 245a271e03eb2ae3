// Somebody's own words.
import type { Children, Html } from "./html.ts";

/** What a person has written. */
export function Quote({ children }: { children?: Children }): Html {
  return <blockquote class="quote">{children}</blockquote>;
}
