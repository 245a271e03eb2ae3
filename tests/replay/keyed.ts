// Short ways to calls that carry replay keys, and to what a database knows of them.
import { assertEquals } from "@std/assert";
import { AppError } from "../../lib/core/errors.ts";
import type { ApiAnswer, ApiRequest } from "../testing/call_api.ts";
import { rowsOf, type TestNamespace } from "../testing/test_namespace.ts";

export const T = "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT UNIQUE)";
export const INSERT = "INSERT INTO t (a) VALUES ('x')";

/** Options of a call with an idempotency key. */
export function keyed(key: string, more: ApiRequest = {}): ApiRequest {
  return { ...more, headers: { ...more.headers, "idempotency-key": key } };
}

/** Options of a call that is a step of a plan. */
export function step(key: string, name: string, more: ApiRequest = {}): ApiRequest {
  return { ...more, headers: { ...more.headers, "plan-key": key, "plan-step": name } };
}

/** What the answer says of its own repetition: `Idempotency-Replayed`, `Plan-Replayed`. */
export function replayed({ headers }: ApiAnswer): (string | null)[] {
  return [headers.get("idempotency-replayed"), headers.get("plan-replayed")];
}

/** The second answer is the first one's, to the byte, and says so. */
export function assertReplay(first: ApiAnswer, second: ApiAnswer, header = "idempotency-replayed"): void {
  assertEquals([first.status, first.headers.get(header)], [200, null], first.text.slice(0, 300));
  assertEquals([second.status, second.headers.get(header)], [200, "true"], second.text.slice(0, 300));
  assertEquals(second.headers.get("content-type"), first.headers.get("content-type"));
  // Not assertEquals: a difference between megabytes takes for ever to print.
  assertEquals(second.text === first.text, true, "the bytes differ");
}

export async function count(tenant: TestNamespace, table = "t"): Promise<unknown> {
  return rowsOf(await tenant.query(`SELECT count(*) FROM ${table}`))[0]?.[0];
}

export function assertRefused(answer: ApiAnswer, status: number, code: string): void {
  assertEquals([answer.status, answer.body.code], [status, code], answer.text.slice(0, 300));
}

/** The code with which a call fails, or `none`. */
export async function failureCode(call: () => Promise<unknown>): Promise<string> {
  try {
    await call();
    return "none";
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return error.code;
  }
}
