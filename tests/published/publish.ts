// An app with a namespace, and short ways to put an endpoint there and call it as a stranger would.
import { assert, assertEquals } from "@std/assert";
import type { EndpointSpec, EndpointStatus } from "../../lib/core/endpoint_spec.ts";
import { type ApiAnswer, type ApiRequest, NO_SNAPSHOT } from "../testing/call_api.ts";
import { startApp, type StartAppOptions, type StartedApp } from "../testing/start_app.ts";
import type { TestNamespace } from "../testing/test_namespace.ts";

export interface PublishedApp extends AsyncDisposable {
  readonly app: StartedApp;
  readonly acme: TestNamespace;
  /** Makes an endpoint of `acme/main` with that status, published unless given. */
  put(spec: Partial<EndpointSpec> & { readonly slug: string }, status?: EndpointStatus): Promise<void>;
  /** Calls `/p/acme/main/<path>`: GET, or POST where the request has a body. */
  call(path: string, request?: ApiRequest & { readonly method?: string }): Promise<ApiAnswer>;
}

/** A table of three items beside what `setup` makes. */
export async function publishedApp(
  { setup = [], ...options }: StartAppOptions & { readonly setup?: readonly string[] } = {},
): Promise<PublishedApp> {
  const app = await startApp(options);
  const acme = await app.namespace();
  const statements = [
    "CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT UNIQUE, price REAL, owner INTEGER)",
    "INSERT INTO item VALUES (1, 'one', 1.5, 7), (2, 'two', 2.5, 8), (3, 'three', 3.5, 7)",
    ...setup,
  ];
  const { status, text } = await acme.batch(statements.map((sql) => [sql] as const), {
    headers: NO_SNAPSHOT,
  });
  assertEquals(status, 200, text);
  const { control: { endpoints, namespaces } } = app.deps;
  const namespaceId = (await namespaces.bySlug(acme.slug))?.id ?? "";
  return {
    app,
    acme,
    put: async (spec, status = "published") => {
      const full = { ...itemById, name: spec.slug, ...spec };
      const by = { namespaceId, databaseId: acme.database.id, slug: spec.slug, actor: "operator" };
      if (await endpoints.create(full, by) === null) assert(await endpoints.replace(full, by));
      const from = ["draft", "published", "paused"] as const;
      assert((await endpoints.setStatus({ status, from }, by)).ok);
    },
    call: (path, { method, ...request } = {}) =>
      app.request(
        method ?? (request.body === undefined ? "GET" : "POST"),
        `/p/${acme.slug}/main/${path}`,
        request,
      ),
    [Symbol.asyncDispose]: () => app.stop(),
  };
}

/** One item by its key, over GET. */
export const itemById: EndpointSpec = {
  slug: "item",
  name: "Item",
  kind: "query",
  method: "GET",
  sql: "SELECT id, name FROM item WHERE id = ?",
  input: [{ name: "id", type: "integer", required: true }],
  output: "rows",
};

/** Paths that the answer's issues name, sorted. */
export function issuePaths(answer: ApiAnswer): string[] {
  assertEquals([answer.status, answer.body.code], [400, "validation_failed"], answer.text);
  return (answer.body.issues ?? []).map(({ path }) => path).sort();
}

/** The users of an app, and the endpoint by which they sign up. */
export const PEOPLE =
  "CREATE TABLE people (id INTEGER PRIMARY KEY, email TEXT UNIQUE NOT NULL, password_hash TEXT NOT NULL)";
export const JOIN: Parameters<PublishedApp["put"]>[0] = {
  ...{ slug: "join", kind: "auth_signup", method: "POST", output: "session" },
  sql: "INSERT INTO people (email, password_hash) VALUES (?, ?) RETURNING id",
  input: [{ name: "email", type: "email", required: true }, {
    name: "password",
    type: "text",
    required: true,
  }],
  authConfig: { usersTable: "people", passwordColumn: "password_hash" },
};
