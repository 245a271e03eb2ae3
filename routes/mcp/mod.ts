// POST /mcp: the door for agents that speak the Model Context Protocol. What is behind it is loaded when the first of
// them comes: a service that has none holds none of it.
import { Hono } from "hono";
import { once } from "../../lib/core/once.ts";
import type { AppDeps } from "../http/app_deps.ts";
import type { Env } from "../http/env.ts";
import { tokenBearer } from "../middleware/access.ts";
import { challenging } from "./bearer_challenge.ts";
import { ownOrigin } from "./own_origin.ts";

/**
 * Mounted at the root. With a `/` behind it the address is the same: some clients put one there, and follow no redirect of
 * a POST. Other methods than POST answer 405: nothing here has a state that one could listen to or end.
 */
export function mcpRoutes(deps: AppDeps): Hono<Env> {
  const load = once(() => import("./serve_message.ts"));
  return new Hono<Env>()
    .use("/mcp/*", ownOrigin(deps))
    .use("/mcp/*", challenging(deps))
    .on("POST", ["/mcp", "/mcp/"], tokenBearer(deps, "mcp"), async (c) => {
      const { serveMessage } = await load();
      return await serveMessage(deps, c);
    });
}
