// Where somebody is led who opens the address of a form: a reload, a bookmark or a link of a page that answered one.
import { pagesTable } from "./pages_table.ts";

interface FormAddress {
  readonly matches: RegExp;
  /** Parts of the address of the page behind it. */
  readonly parts: number;
}

const pages = new Set(pagesTable.filter(({ method }) => method === "GET").map(({ path }) => path));
/** In the table's order: addresses of their own stand before those that have a name in their place. */
const forms: readonly FormAddress[] = pagesTable
  .filter(({ method, path }) => method === "POST" && !pages.has(path))
  .map(({ path }) => ({
    matches: new RegExp(`^${path.replace(/:\w+/g, "[^/]+")}/?$`),
    parts: partsBehind(path),
  }));

/** The nearest page above the address of a form; null where it is none. */
export function pageBehind(pathname: string): string | null {
  const form = forms.find(({ matches }) => matches.test(pathname));
  return form === undefined ? null : pathname.split("/").slice(0, form.parts).join("/");
}

function partsBehind(path: string): number {
  const words = path.split("/");
  while (words.length > 2 && !pages.has(words.join("/"))) words.pop();
  return words.length;
}
