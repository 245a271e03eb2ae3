// What stands in the places of a path, for the API description.

interface PathParameter {
  readonly description: string;
  readonly example?: string;
}

/** By the name of the place; under `/api` a namespace is a `slug`. */
const parameters: Readonly<Record<string, PathParameter>> = {
  ns: place("Slug of the namespace", "acme"),
  db: place("Slug of the database, or slug@branch", "shop"),
  slug: place("Slug of the namespace", "acme"),
  dbSlug: place("Slug of the database", "shop"),
  endpoint: place("Slug of the endpoint", "order-by-id"),
  n: place("Number of the revision", "1"),
  ref: place("Name of the branch", "new-index"),
  id: { description: "Id from the answer that made it, or from a list" },
  token: { description: "The approval token of the refusal, appr_…" },
};

/** Nothing for a name that is not listed. */
export function documentedPath(name: string): PathParameter | undefined {
  return parameters[name];
}

function place(description: string, example: string): PathParameter {
  return { description, example };
}
