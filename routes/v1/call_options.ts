// What the headers of an SQL call say beside its body.
import type { Context } from "hono";
import { replayScope, requireReplayKey } from "../../lib/access/replay_scope.ts";
import type { ReplayScope } from "../../lib/control/replays.ts";
import type { CallReplay } from "../../lib/query/query_call.ts";
import type { StatementsInput } from "../../lib/services/query/run_statements.ts";
import type { Env } from "../http/env.ts";
import { headerNumber, integersAsStrings, snapshots } from "../middleware/header_flag.ts";
import { requestContent } from "../middleware/request_content.ts";

type Options = Pick<StatementsInput, "integersAsStrings" | "replay" | "maxAffected" | "snapshots" | "signal">;

/** Errors: `validation_failed` naming the header. */
export function callOptions(c: Context<Env>, operation: "query" | "batch"): Options | Promise<Options> {
  const key = c.req.header("idempotency-key");
  const plan = c.get("plan") ?? null;
  if (key === undefined) return options(c, plan && { idempotency: null, plan });
  return keyedOptions(c, operation, { key, plan });
}

function options(c: Context<Env>, replay: CallReplay | null): Options {
  return {
    maxAffected: headerNumber(c, "X-Max-Affected", 0),
    integersAsStrings: integersAsStrings(c),
    replay,
    snapshots: snapshots(c),
    signal: () => c.req.raw.signal,
  };
}

async function keyedOptions(
  c: Context<Env>,
  operation: string,
  { key, plan }: { readonly key: string; readonly plan: ReplayScope | null },
): Promise<Options> {
  requireReplayKey("Idempotency-Key", key);
  const scope = ["idempotency", c.get("token").tokenId, c.get("target").databaseId, operation, key];
  return options(c, { idempotency: replayScope(scope, await requestContent(c)), plan });
}
