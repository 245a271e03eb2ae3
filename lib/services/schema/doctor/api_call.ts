// Suggestions that are calls of this service, in a form that runs as it stands: `METHOD path body`.
import type { Address } from "./examined.ts";

/** A call under `/v1/db/:ns/:db/`. */
export function databaseCall(address: Address, method: string, operation: string, body: unknown): string {
  return `${method} /v1/db/${address.namespaceSlug}/${address.databasePath}/${operation} ${
    JSON.stringify(body)
  }`;
}

/** All statements or none of them. */
export function batchCall(address: Address, statements: readonly string[]): string {
  return databaseCall(address, "POST", "batch", {
    statements: statements.map((sql) => ({ sql })),
    transaction: true,
  });
}

/** A call about one endpoint; `rest` follows its slug. */
export function endpointCall(address: Address, method: string, rest: string, body?: unknown): string {
  return databaseApiCall(address, method, `endpoints/${rest}`, body);
}

/** A call under `/api/namespaces/:slug/databases/:dbSlug/`. */
export function databaseApiCall(address: Address, method: string, rest: string, body?: unknown): string {
  const [slug] = address.databasePath.split("@");
  const path = `/api/namespaces/${address.namespaceSlug}/databases/${slug}/${rest}`;
  return body === undefined ? `${method} ${path}` : `${method} ${path} ${JSON.stringify(body)}`;
}
