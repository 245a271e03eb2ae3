// Money as a customer sees it over HTTP, in whole nano-dollars.
import { assertEquals } from "@std/assert";
import type { ApiAnswer } from "../testing/call_api.ts";
import type { StartedApp } from "../testing/start_app.ts";
import type { TestNamespace } from "../testing/test_namespace.ts";

export interface Money {
  readonly balance: number;
  readonly reserved: number;
  readonly used: number;
  readonly credited: number;
  readonly writtenOff: number;
}

export interface UsageSum {
  readonly requests: number;
  readonly rowsRead: number;
  readonly rowsWritten: number;
  readonly cost: number;
}

export function nano(usd: number | undefined): number {
  return Math.round((usd ?? NaN) * 1e9);
}

/** What the balance route says; the equation holds. */
export async function money(
  app: Pick<StartedApp, "request">,
  { slug, token }: TestNamespace,
): Promise<Money> {
  const { status, body, text } = await app.request("GET", `/api/namespaces/${slug}/balance`, { token });
  assertEquals(status, 200, text);
  const data = body.data as Record<string, number>;
  const found = {
    balance: nano(data["balanceUsd"]),
    reserved: nano(data["reservedUsd"]),
    used: nano(data["usedUsd"]),
    credited: nano(data["creditedUsd"]),
    writtenOff: nano(data["writtenOffUsd"]),
  };
  assertEquals(found.credited, found.balance + found.reserved + found.used);
  return found;
}

/** The usage route's rows, added up, by database. */
export async function usage(
  app: StartedApp,
  { slug, token }: TestNamespace,
  query = "",
): Promise<Map<string, UsageSum>> {
  const { status, body, text } = await app.request("GET", `/api/namespaces/${slug}/usage?${query}`, {
    token,
  });
  assertEquals(status, 200, text);
  const sums = new Map<string, UsageSum>();
  type Row = { databaseId: string; requests: number; rowsRead: number; rowsWritten: number; costUsd: number };
  for (const row of body.data as Row[]) {
    const before = sums.get(row.databaseId) ?? { requests: 0, rowsRead: 0, rowsWritten: 0, cost: 0 };
    sums.set(row.databaseId, {
      requests: before.requests + row.requests,
      rowsRead: before.rowsRead + row.rowsRead,
      rowsWritten: before.rowsWritten + row.rowsWritten,
      cost: before.cost + nano(row.costUsd),
    });
  }
  return sums;
}

/** Credit by the operator. */
export function credit(
  app: StartedApp,
  slug: string,
  body: unknown,
  token: string = app.operatorKey,
): Promise<ApiAnswer> {
  return app.request("POST", `/api/namespaces/${slug}/credits`, { token, body });
}
