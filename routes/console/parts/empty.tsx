// What stands where nothing is yet: what would be here, and the next step, with a line that works when pasted.
import type { Children, Html } from "./html.ts";
import { Icon, type IconName } from "./icon.tsx";

/** `children` are the next steps. */
export function Empty(
  { icon, title, children }: { icon: IconName; title: string; children?: Children },
): Html {
  return (
    <div class="empty">
      <Icon name={icon} size={24} />
      <h2>{title}</h2>
      {children}
    </div>
  );
}
