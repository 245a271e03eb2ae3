// What happens, one after the other.
import type { Child } from "hono/jsx";
import type { Html } from "./html.ts";

/** Each step is what happens in a few words, and the rest of the sentence. */
export function Steps({ steps }: { steps: readonly (readonly [lead: string, rest: Child])[] }): Html {
  return (
    <ol class="steps">
      {steps.map(([lead, rest]) => (
        <li>
          <span>
            <b>{lead}</b> {rest}
          </span>
        </li>
      ))}
    </ol>
  );
}
