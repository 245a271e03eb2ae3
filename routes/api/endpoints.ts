// /api/namespaces/:slug/databases/:dbSlug/endpoints: stored statements, from draft to published.
import { type Context, Hono } from "hono";
import { describeRoute } from "hono-openapi";
import { z } from "zod";
import { describedSchema } from "../http/described_schema.ts";
import { endpointSpec } from "../../lib/core/endpoint_spec.ts";
import { MAX_TEST_BODY_BYTES } from "../../lib/core/limits.ts";
import type { EndpointContext } from "../../lib/services/endpoints/endpoint_context.ts";
import {
  createEndpoint,
  deleteEndpoint,
  getEndpoint,
  listEndpoints,
  moveEndpoint,
  replaceEndpoint,
} from "../../lib/services/endpoints/manage_endpoints.ts";
import { readStats } from "../../lib/services/endpoints/read_stats.ts";
import { listRevisions, restoreRevision } from "../../lib/services/endpoints/revisions.ts";
import { scaffoldCrud } from "../../lib/services/endpoints/scaffold/scaffold_crud.ts";
import { testEndpoint } from "../../lib/services/endpoints/test_endpoint.ts";
import { answers, describing, sendData, sendWithRows } from "../http/answers.ts";
import type { AppDeps } from "../http/app_deps.ts";
import type { Env } from "../http/env.ts";
import { sendLongData } from "../http/long_answer.ts";
import { noQuery } from "../http/schemas.ts";
import { bodyUpTo } from "../middleware/body_text.ts";
import { rowFormOf } from "../middleware/header_flag.ts";
import { noBody, validate } from "../middleware/validate.ts";
import {
  endpointRecord,
  endpointRevision,
  hourStats,
  patchedSpec,
  scaffoldBody,
  scaffoldResult,
  sentSpec,
  specPatch,
  specReplacement,
  statsQuery,
  testBody,
  testResult,
} from "./endpoint_schemas.ts";
import { addressOf } from "./path_names.ts";

const PATH = "/:slug/databases/:dbSlug/endpoints";
const ONE = `${PATH}/:endpoint`;
const tags = ["endpoints"];
const described = describing(tags);
const requestBody = {
  required: true,
  content: { "application/json": { schema: describedSchema(endpointSpec) } },
};
const replacement = {
  required: true,
  content: { "application/json": { schema: describedSchema(specReplacement) } },
};
const patchRequest = {
  required: true,
  content: { "application/json": { schema: describedSchema(specPatch) } },
};
const transitions = [
  { transition: "publish", summary: "Serve an endpoint" },
  { transition: "pause", summary: "Pause an endpoint: calls answer 503" },
  { transition: "unpublish", summary: "Make an endpoint a draft again" },
] as const;

/** Mounted under `/api/namespaces`. */
export function endpointRoutes(deps: AppDeps): Hono<Env> {
  const routes = new Hono<Env>()
    .get(
      PATH,
      described("List the endpoints", z.array(endpointRecord)),
      validate("query", noQuery),
      (c) => sendLongData(c, addressOf(c), () => listEndpoints(contextOf(deps, c), addressOf(c))),
    )
    .post(
      PATH,
      describeRoute({
        summary: "Make an endpoint, as a draft",
        tags,
        requestBody,
        responses: answers(endpointRecord, { status: 201 }),
      }),
      async (c) => {
        const input = { address: addressOf(c), unchecked: await sentSpec(c) };
        return sendData(c, await createEndpoint(contextOf(deps, c), input), 201);
      },
    )
    .post(
      `${PATH}/scaffold-crud`,
      describeRoute({
        summary: "Make the usual endpoints of a table, as drafts",
        tags,
        responses: {
          ...answers(z.object({})),
          200: {
            description: "Success",
            content: { "application/json": { schema: describedSchema(scaffoldResult) } },
          },
        },
      }),
      validate("json", scaffoldBody),
      async (c) => {
        const input = { address: addressOf(c), ...c.req.valid("json") };
        return c.json({ ok: true, data: await scaffoldCrud(contextOf(deps, c), input) });
      },
    )
    .get(
      ONE,
      described("Read an endpoint", endpointRecord),
      validate("query", noQuery),
      async (c) => sendData(c, await getEndpoint(contextOf(deps, c), endpointOf(c))),
    )
    .put(
      ONE,
      describeRoute({
        summary: "Replace the specification of an endpoint",
        tags,
        requestBody: replacement,
        responses: answers(endpointRecord),
      }),
      async (c) => {
        const unchecked = await sentSpec(c);
        const input = { ...endpointOf(c), specOf: () => unchecked };
        return sendData(c, await replaceEndpoint(contextOf(deps, c), input));
      },
    )
    .patch(
      ONE,
      describeRoute({
        summary: "Change members of the specification of an endpoint, by a JSON merge patch",
        tags,
        requestBody: patchRequest,
        responses: answers(endpointRecord),
      }),
      async (c) => {
        const input = { ...endpointOf(c), specOf: await patchedSpec(c) };
        return sendData(c, await replaceEndpoint(contextOf(deps, c), input));
      },
    )
    .delete(
      ONE,
      described("Delete an endpoint", endpointRecord),
      noBody,
      async (c) => sendData(c, await deleteEndpoint(contextOf(deps, c), endpointOf(c))),
    )
    .post(
      `${ONE}/test`,
      described("Run an endpoint of any status against the live database; effects stay", testResult),
      bodyUpTo(MAX_TEST_BODY_BYTES),
      validate("json", testBody),
      async (c) => {
        const { input, session } = c.req.valid("json");
        const test = {
          ...endpointOf(c),
          input,
          session: session ?? null,
          rowForm: rowFormOf(c),
          signal: () => c.req.raw.signal,
        };
        const ctx = { ...contextOf(deps, c), published: deps.published };
        return sendWithRows(c, { success: true, data: await testEndpoint(ctx, test) });
      },
    )
    .get(
      `${ONE}/stats`,
      described("Count the calls of an endpoint by hour, refused ones too", z.array(hourStats)),
      validate("query", statsQuery),
      async (c) => {
        const { from, to } = c.req.valid("query");
        const input = { ...endpointOf(c), fromMs: from ?? null, toMs: to ?? null };
        return sendData(c, await readStats(contextOf(deps, c), input));
      },
    )
    .get(
      `${ONE}/revisions`,
      described("List the revisions of an endpoint, newest first", z.array(endpointRevision)),
      validate("query", noQuery),
      (c) => sendLongData(c, addressOf(c), () => listRevisions(contextOf(deps, c), endpointOf(c))),
    )
    .post(
      `${ONE}/revisions/:n/restore`,
      described("Restore a revision", endpointRecord),
      noBody,
      async (c) => {
        const input = { ...endpointOf(c), revision: c.req.param("n") };
        return sendData(c, await restoreRevision(contextOf(deps, c), input));
      },
    );
  for (const { transition, summary } of transitions) {
    routes.post(
      `${ONE}/${transition}`,
      described(summary, endpointRecord),
      noBody,
      async (c) => {
        const input = { ...endpointOf(c), transition };
        return sendData(c, await moveEndpoint(contextOf(deps, c), input));
      },
    );
  }
  return routes;
}

function contextOf(deps: AppDeps, c: Context<Env>): EndpointContext {
  return { ...deps, caller: c.get("caller") };
}

function endpointOf(c: Context<Env, typeof ONE>) {
  return { address: addressOf(c), slug: c.req.param("endpoint") };
}
