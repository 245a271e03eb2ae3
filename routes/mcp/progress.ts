// Signs of life while a call runs, for a client that has asked for them: it then waits longer.
import type { ServerContext } from "@modelcontextprotocol/server";

/** Milliseconds between two of them. */
const EVERY_MS = 1000;

/** The outcome of the work. */
export async function withProgress<Value>(ctx: ServerContext, work: () => Promise<Value>): Promise<Value> {
  const progressToken = ctx.mcpReq._meta?.progressToken;
  if (progressToken === undefined) return await work();
  let progress = 0;
  const timer = setInterval(() => {
    progress++;
    const params = { progressToken, progress, message: `running for ${progress} s` };
    // A client that has gone ends the call by its signal.
    ctx.mcpReq.notify({ method: "notifications/progress", params }).catch(() => {});
  }, EVERY_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
