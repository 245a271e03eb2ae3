// A small number beside a name.
import type { Html } from "./html.ts";

/** `meaning` completes it for whoever cannot see where it stands: "2 waiting". Nothing at zero. */
export function Count({ value, meaning }: { value: number; meaning: string }): Html | null {
  if (value === 0) return null;
  return (
    <span class="count">
      {value > 99 ? "99+" : value}
      <span class="unseen">{` ${meaning}`}</span>
    </span>
  );
}
