// How one of many is found by how its name begins.
import type { Visit } from "../../http/visit.ts";
import { Button } from "./button.tsx";
import { Field } from "./field.tsx";
import { Form } from "./form.tsx";
import type { Html } from "./html.ts";

/** Where it is looked for. */
export interface FinderProps {
  readonly visit: Visit;
  /** The page of the list. */
  readonly path: string;
  /** What is looked for now; empty: nothing. */
  readonly find: string;
  /** What leads back to all of them. */
  readonly all: string;
}

/** A field and a button in a line above the list. */
export function Finder({ visit, path, find, all }: FinderProps): Html {
  return (
    <Form visit={visit} action={path} method="get" kind="filter-line">
      <Field label="Begins with" name="find" type="search" value={find} maxLength={41} spellcheck={false} />
      <Button>Find</Button>
      {find === "" ? null : <a href={path}>{all}</a>}
    </Form>
  );
}
