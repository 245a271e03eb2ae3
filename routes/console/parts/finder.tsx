// How one of many is found by how its name begins.
import type { Visit } from "../../http/visit.ts";
import { Button } from "./button.tsx";
import { EmptyCard } from "./empty.tsx";
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

/** In the place of the list, where no name begins so. */
export function NothingFound({ of, path }: { readonly of: string; readonly path: string }): Html {
  return (
    <EmptyCard icon="database" title={`No ${of} begins so`}>
      <p>
        Slugs are compared from their first letter on. <a href={path}>Show all of them</a>
      </p>
    </EmptyCard>
  );
}

/** A field and a button in a line above the list. */
export function Finder({ visit, path, find, all }: FinderProps): Html {
  return (
    <Form visit={visit} action={path} method="get" kind="filter-line">
      <Field label="Begins with" name="find" type="search" value={find} maxLength={41} />
      <Button>Find</Button>
      {find === "" ? null : <a href={path}>{all}</a>}
    </Form>
  );
}
