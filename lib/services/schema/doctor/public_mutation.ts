// Published public endpoints that write for anybody, as often as anybody likes.
import { endpointCall } from "./api_call.ts";
import type { Examined } from "./examined.ts";
import type { Found } from "./finding.ts";

/** What the suggestion sets: enough for people, too little for a flood. */
const RATE_LIMIT = { perMin: 30 };

/** Kinds that write for whoever calls. */
const writingKinds: ReadonlySet<string> = new Set(["mutation", "auth_signup"]);

export function publicMutation({ endpoints, address }: Examined): Found[] {
  return endpoints.filter((one) =>
    one.auth === "public" && writingKinds.has(one.kind) && !one.captcha && !one.rateLimit
  ).map(({ slug, tables, spec }) => ({
    table: tables[0] ?? "",
    column: null,
    message: `Set a captcha or a rate limit on the public endpoint ${slug}, which writes`,
    suggestion: endpointCall(address, "PUT", slug, { ...spec, rateLimit: RATE_LIMIT }),
  }));
}
