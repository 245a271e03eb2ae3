// Request headers and path parameters for the API description, which no schema of a body contains.

interface HeaderParameter {
  readonly name: string;
  readonly in: "header";
  readonly description: string;
  readonly schema: {
    readonly type: "string";
    readonly enum?: string[];
    readonly minLength?: number;
    readonly maxLength?: number;
  };
}

const key = { type: "string", minLength: 1, maxLength: 200 } as const;

/** What may be a step of a plan: all that is asked of a database. */
const STEPS = /^\/v1\/db\//;

/** A header belongs to the paths that its pattern matches. */
const headers: readonly (readonly [path: RegExp, header: HeaderParameter])[] = [
  [STEPS, header("Plan-Key", "Stable across the calls of a plan; goes with Plan-Step", key)],
  [STEPS, header("Plan-Step", "Stable for this step of the plan", key)],
  [/\/(query|batch)$/, header("Idempotency-Key", "The answer is kept for 24 hours and given again", key)],
  [
    /\/(query|batch|apply)$/,
    header("X-Service-No-Snapshot", "1: no snapshot before a destructive statement", only("1")),
  ],
  [/\/(query|batch)$/, header("X-Dry-Run", "1: shows what the call would do, and does nothing", only("1"))],
  [/\/(query|batch)$/, header("X-Max-Affected", "Rows that the call may change at most; more undo it")],
  [
    /\/(query|batch|propose|apply|redeem_approval|diff|merge|endpoints\/\{endpoint\}\/test)$/,
    header("X-Integers", "string: every INTEGER comes as a string", only("string")),
  ],
];

/** The headers that calls of a path accept. */
export function documentedHeaders(path: string): HeaderParameter[] {
  return headers.filter(([pattern]) => pattern.test(path)).map(([, one]) => one);
}

function only(value: string): HeaderParameter["schema"] {
  return { type: "string", enum: [value] };
}

function header(
  name: string,
  description: string,
  schema: HeaderParameter["schema"] = { type: "string" },
): HeaderParameter {
  return { name, in: "header", description, schema };
}

interface PathParameter {
  readonly description: string;
  readonly example?: string;
}

/** By the name of the parameter; under `/api` a namespace is a `slug`. */
const parameters: Readonly<Record<string, PathParameter>> = {
  ns: parameter("Slug of the namespace", "acme"),
  db: parameter("Slug of the database, or slug@branch", "shop"),
  slug: parameter("Slug of the namespace", "acme"),
  dbSlug: parameter("Slug of the database", "shop"),
  endpoint: parameter("Slug of the endpoint", "order-by-id"),
  n: parameter("Number of the revision", "1"),
  ref: parameter("Name of the branch", "new-index"),
  id: { description: "Id from the answer that made it, or from a list" },
  token: { description: "The approval token of the refusal, appr_…" },
};

/** The description of a path parameter; undefined for an unknown name. */
export function documentedPath(name: string): PathParameter | undefined {
  return parameters[name];
}

function parameter(description: string, example: string): PathParameter {
  return { description, example };
}
