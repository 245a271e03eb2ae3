// A moment: in UTC as the server writes it, in the reader's zone once the script has seen it.
import type { Html } from "./html.ts";

/** `at`: ISO 8601, or unix milliseconds. */
export function Time({ at }: { at: string | number }): Html {
  const iso = new Date(at).toISOString();
  return <time datetime={iso}>{`${iso.slice(0, 16).replace("T", " ")} UTC`}</time>;
}
