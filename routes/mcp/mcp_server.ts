// What the SDK is told of this server: one of these a message, for nothing is remembered between two.
import { Server, type ServerContext } from "@modelcontextprotocol/server";
import type { McpAnswer } from "./tools/answer.ts";
import { askPerson, type HeldState, isStateOf, resumeHeld, stateCodec } from "./ask_person.ts";
import { type AskedCall, callTool, findTool } from "./call_tool.ts";
import { invalidParams, orProtocolError, settled } from "./failure_boundary.ts";
import { INSTRUCTIONS } from "./instructions.ts";
import { withProgress } from "./progress.ts";
import { getPrompt, prompts } from "./prompts.ts";
import { listResources, readSchemaResource, resourceTemplates } from "./resources.ts";
import { listTools } from "./tools/tool_table.ts";
import { addressingOf, connectionRole, type McpVisit } from "./tools/visit.ts";

/** `era`: of the client's protocol. Only in the modern one a call can be answered by a question. */
export function mcpServer(visit: McpVisit, era: "legacy" | "modern"): Server {
  const server = new Server({ name: "cubby", title: "Cubby", version: "1" }, {
    capabilities: { tools: {}, resources: {}, prompts: {} },
    instructions: INSTRUCTIONS,
    requestState: {
      verify: async (state, ctx) => (await stateCodec(visit.deps.query.hashes)).verify(state, ctx),
    },
  });
  server.setRequestHandler("tools/list", () =>
    orProtocolError(visit, async () => ({
      tools: [...listTools(connectionRole(visit), await addressingOf(visit))],
    })));
  server.setRequestHandler("tools/call", async ({ params }, ctx) => {
    const tool = findTool(visit, params.name);
    const asked = { tool, given: params.arguments ?? {}, signal: ctx.mcpReq.signal };
    const asksPeople = era === "modern" && opensPages(server);
    return await withProgress(ctx, () => answerAsked(visit, asked, { ctx, asksPeople }));
  });
  server.setRequestHandler(
    "resources/list",
    () => orProtocolError(visit, async () => ({ resources: await listResources(visit) })),
  );
  server.setRequestHandler("resources/templates/list", () => ({ resourceTemplates: [...resourceTemplates] }));
  server.setRequestHandler("resources/read", ({ params }, ctx) =>
    orProtocolError(visit, async () => ({
      contents: [await readSchemaResource(visit, params.uri, ctx.mcpReq.signal)],
    })));
  server.setRequestHandler("prompts/list", () => ({ prompts: [...prompts] }));
  server.setRequestHandler("prompts/get", ({ params }) => getPrompt(params.name, params.arguments ?? {}));
  return server;
}

interface CallWay {
  readonly ctx: ServerContext;
  /** Whether the client can be answered by a question to its user. */
  readonly asksPeople: boolean;
}

async function answerAsked(visit: McpVisit, asked: AskedCall, { ctx, asksPeople }: CallWay) {
  const state = ctx.mcpReq.requestState<HeldState>();
  if (state !== undefined) {
    const { tool } = asked;
    if (tool.database === "none" || !isStateOf(visit, asked, state)) {
      throw invalidParams("Send a requestState with the very call that it was given for");
    }
    return toolResult((await resumeHeld(visit, { ...asked, tool }, state)).answer);
  }
  const { answer, held } = await callTool(visit, asked);
  if (held === null || !asksPeople) return toolResult(answer);
  const question = await settled(visit, () => askPerson(visit, asked, held));
  return question.ok ? question.value : toolResult(answer);
}

/** Whether the client has said, with this very message, that it can open a page for its user. */
function opensPages(server: Server): boolean {
  return server.getClientCapabilities()?.elicitation?.url !== undefined;
}

function toolResult({ text, isError }: McpAnswer) {
  return { content: [{ type: "text" as const, text }], ...(isError ? { isError } : {}) };
}
