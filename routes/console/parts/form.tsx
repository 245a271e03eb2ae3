// A form of somebody who is signed in: it carries the session's token, without which nothing is changed.
import type { Visit } from "../../http/visit.ts";
import { Hidden } from "./hidden.tsx";
import type { Children, Html } from "./html.ts";

/** Where a form goes and what it carries. */
export interface FormProps {
  readonly visit: Visit;
  readonly action: string;
  /** GET for searches and filters, which change nothing. */
  readonly method?: "get" | "post";
  /** Fields nobody sees. */
  readonly hidden?: Readonly<Record<string, string>>;
  /** Classes; `form` stacks the fields. */
  readonly kind?: string;
  readonly id?: string;
  /** Attributes for scripts: `hx-…`, `data-…`. */
  readonly more?: Readonly<Record<string, string>>;
  readonly children?: Children;
}

/** A real form, which needs no script. */
export function Form(props: FormProps): Html {
  const { visit, action, method = "post", hidden = {}, kind, id, more = {}, children } = props;
  return (
    <form id={id} class={kind} action={action} method={method} {...more}>
      {method === "post" && visit.person !== null
        ? <input type="hidden" name="csrf" value={visit.person.csrf} />
        : null}
      <Hidden fields={hidden} />
      {children}
    </form>
  );
}
