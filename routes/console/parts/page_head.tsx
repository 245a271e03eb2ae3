// The title of a page with what can be done on it.
import type { Child } from "hono/jsx";
import type { Html } from "./html.ts";

/** `end` stands at the other side of the title, `about` below it in one or two sentences. */
export function PageHead({ title, about, end }: { title: string; about?: Child; end?: Child }): Html {
  return (
    <div class="page-head">
      <h1>{title}</h1>
      {end === undefined ? null : <div class="end">{end}</div>}
      {about === undefined ? null : <p>{about}</p>}
    </div>
  );
}
