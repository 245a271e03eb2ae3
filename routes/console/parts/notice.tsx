// A message about what has happened or has to be known.
import type { Children, Html } from "./html.ts";
import { Icon, type IconName } from "./icon.tsx";

const icons = { plain: "info", good: "check", warn: "alert", bad: "alert" } as const satisfies Record<
  string,
  IconName
>;

/** Said aloud at once where it tells of a failure. */
export function Notice(
  { tone = "plain", children }: { tone?: keyof typeof icons; children?: Children },
): Html {
  return (
    <div class={tone === "plain" ? "notice" : `notice ${tone}`} role={tone === "bad" ? "alert" : "status"}>
      <Icon name={icons[tone]} />
      <div>{children}</div>
    </div>
  );
}
