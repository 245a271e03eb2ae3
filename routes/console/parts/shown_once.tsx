// A mark on what no page shows again: a token, a secret, a link. It stands in the answer to the form that has made it.
import type { Html } from "./html.ts";
import { Pill } from "./pill.tsx";

/** The script of every page finds it, and sees to it that a reload does not make another one. */
export function ShownOnce(): Html {
  return (
    <span data-shown-once>
      <Pill tone="warn" icon="alert">Shown once</Pill>
    </span>
  );
}
