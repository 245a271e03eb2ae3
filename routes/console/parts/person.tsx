// Somebody: the first letters in a circle, the name, and who that is.
import type { Child } from "hono/jsx";
import type { Html } from "./html.ts";
import { Icon } from "./icon.tsx";
import { visibleText } from "./visible_text.ts";

/** `agent`: a token instead of a person. */
export function Person(
  { name, about, agent = false }: { name: string; about?: Child; agent?: boolean },
): Html {
  return (
    <div class="person">
      <Avatar name={name} agent={agent} />
      <span>
        {visibleText(name)}
        {about === undefined ? null : <small>{about}</small>}
      </span>
    </div>
  );
}

/** The circle alone. */
export function Avatar({ name, agent = false }: { name: string; agent?: boolean }): Html {
  if (agent) {
    return (
      <span class="avatar soft" aria-hidden="true">
        <Icon name="agent" size={14} />
      </span>
    );
  }
  const letters = name.split(/[\s@._-]+/u).filter((word) => word !== "").slice(0, 2)
    .map((word) => /[\p{L}\p{N}]/u.exec(word)?.[0].toUpperCase() ?? "").join("");
  return <span class="avatar" aria-hidden="true">{letters}</span>;
}
