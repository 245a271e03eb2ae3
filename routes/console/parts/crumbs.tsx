// Where a page stands: links to what it is part of.
import type { Child } from "hono/jsx";
import type { Html } from "./html.ts";

/** `path` are name and address of what is above; `here` is the page itself. */
export function Crumbs(
  { path, here }: { path: readonly (readonly [name: string, href: string])[]; here: Child },
): Html {
  return (
    <nav class="crumbs" aria-label="Breadcrumb">
      {path.map(([name, href]) => (
        <>
          <a href={href}>{name}</a>
          <span aria-hidden="true">/</span>
        </>
      ))}
      <span>{here}</span>
    </nav>
  );
}
