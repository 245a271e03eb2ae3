// A card that stays closed until somebody needs what is inside.
import type { Children, Html } from "./html.ts";

/** `open`: it has something to say already, such as a form that has come back. */
export function Fold(
  { id, title, open = false, kind = "", children }: {
    id?: string;
    title: string;
    open?: boolean;
    kind?: string;
    children?: Children;
  },
): Html {
  return (
    <details id={id} class={`card fold ${kind}`.trim()} open={open}>
      <summary>{title}</summary>
      <div class="body">{children}</div>
    </details>
  );
}
