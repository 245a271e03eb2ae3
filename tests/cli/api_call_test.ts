// Which calls the command line makes again: those that have not begun, and only where that is soon.
import { assertEquals } from "@std/assert";
import { callApi } from "../../lib/cli/api_call.ts";

Deno.test("a call is made again where an address had too many, and in no other case", async () => {
  const cases: readonly (readonly [code: string, retryAfter: string | null, calls: number])[] = [
    ["too_many_requests", "0", 2],
    ["too_many_requests", "16", 1],
    ["too_many_requests", null, 1],
    ["rate_limited", "0", 1],
    ["database_busy", "0", 1],
  ];
  for (const [code, retryAfter, expected] of cases) {
    let calls = 0;
    const fetch = () => {
      if (calls++ > 0) return Promise.resolve(Response.json({ success: true }));
      const headers: Record<string, string> = retryAfter === null ? {} : { "retry-after": retryAfter };
      return Promise.resolve(Response.json({ success: false, code }, { headers }));
    };
    const api = { db: "http://localhost/v1/db/acme/main", token: "t", fetch };
    const { success } = await callApi(api, "POST", "query", {});
    assertEquals([calls, success], [expected, expected === 2], `${code} ${retryAfter}`);
  }
});
