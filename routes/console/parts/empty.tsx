// What stands where nothing is yet: what would be here, and the next step, with a line that works when pasted.
import type { Children, Html } from "./html.ts";
import { Icon, type IconName } from "./icon.tsx";

interface EmptyProps {
  readonly icon: IconName;
  readonly title: string;
  /** The next steps. */
  readonly children?: Children;
}

/** In the place of a card. */
export function EmptyCard(props: EmptyProps): Html {
  return (
    <div class="card">
      <Empty {...props} />
    </div>
  );
}

/** Inside of one. */
export function Empty({ icon, title, children }: EmptyProps): Html {
  return (
    <div class="empty">
      <Icon name={icon} size={24} />
      <h2>{title}</h2>
      {children}
    </div>
  );
}
