// A read where the time limit of statements is short.
import { rowsOf, type TestNamespace } from "../testing/test_namespace.ts";

const MOST_TRIES = 10;

/**
 * The rows of a read of `main`. It is asked again where it runs out of time itself: behind a statement that was ended a
 * process starts, which beside busy ones can take longer than the limit of the test.
 */
export async function readPatiently(tenant: TestNamespace, sql: string): Promise<unknown[][]> {
  for (let tries = 1;; tries++) {
    const answer = await tenant.query(sql);
    if (answer.body.code !== "statement_timeout" || tries === MOST_TRIES) return rowsOf(answer);
  }
}
