// A word about a state, in the colour of what it means.
import type { Children, Html } from "./html.ts";
import { Icon, type IconName } from "./icon.tsx";

/** Amber waits, green passes, red removes or fails; a plain one only names. */
export type Tone = "plain" | "warn" | "good" | "bad";

/** A state. */
export function Pill(
  { tone = "plain", icon, children }: { tone?: Tone; icon?: IconName; children?: Children },
): Html {
  return (
    <span class={tone === "plain" ? "pill" : `pill ${tone}`}>
      {icon === undefined ? null : <Icon name={icon} size={14} />}
      {children}
    </span>
  );
}
