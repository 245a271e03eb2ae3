// GET and POST /v1/db/:ns/:db/snapshots, POST /restore.
import { type Context, Hono } from "hono";
import { z } from "zod";
import {
  listSnapshots,
  restoreInto,
  type RestoreIntoContext,
  takeSnapshot,
} from "../../lib/services/snapshots/manage_snapshots.ts";
import { readArchive, restoreMomentInto } from "../../lib/services/snapshots/archived_moment.ts";
import { restoreInPlace } from "../../lib/services/snapshots/restore_in_place.ts";
import { describing, sendData } from "../http/answers.ts";
import type { AppDeps } from "../http/app_deps.ts";
import type { Env } from "../http/env.ts";
import { targetNow } from "../middleware/access.ts";
import { validate } from "../middleware/validate.ts";
import { databaseRecord, isoTimestamp, newSlug, noQuery, snapshotLabel, timeText } from "../http/schemas.ts";
import { queryMeta } from "./sql_schemas.ts";

const snapshot = z.object({
  label: z.string(),
  createdAt: isoTimestamp,
  sizeBytes: z.int(),
  automatic: z.boolean(),
});
const snapshotBody = z.strictObject({
  label: snapshotLabel.optional(),
}).meta({ examples: [{ label: "before-import" }] }).prefault({});
const restoreBody = z.strictObject({
  snapshot: z.string().min(1).max(200).optional().describe("Label of the snapshot"),
  // Without its format: beside `oneOf` openapi-generator writes Go that does not import the time that it uses.
  at: timeText("2026-11-22T22:45:00Z").optional().meta({
    description: "A moment that is archived, instead of a snapshot",
    format: undefined,
  }),
  into: newSlug.optional().describe("Slug of a new database; without it the present one is replaced"),
}).refine(({ snapshot, at }) => (snapshot === undefined) !== (at === undefined), {
  path: ["snapshot"],
  message: "Give either snapshot or at",
}).meta({
  oneOf: [{ required: ["snapshot"] }, { required: ["at"] }],
  examples: [{ snapshot: "before-import" }],
});
const archive = z.object({
  on: z.boolean().describe("Whether this service archives anything"),
  archivedFrom: isoTimestamp.nullable().describe(
    "The earliest moment that can be brought back; null: there is none yet, or it cannot be read now",
  ),
  archivedUntil: isoTimestamp.nullable().describe(
    "Everything that was answered by then is archived; null: nothing is",
  ),
  lagMs: z.int().nullable().describe(
    "Milliseconds that the archive is behind; null: nothing is archived yet",
  ),
  problem: z.enum(["archive_away", "archive_taken", "archive_damaged"]).nullable().describe(
    "What is wrong with the archive; null: nothing",
  ),
});
/** What a restore in place answers. */
export const restored = z.object({
  snapshot: z.string(),
  undo: z.string().nullable().describe("Label of the state before; null: that could not be read any more"),
  setAside: z.string().nullable().describe("Name under which a damaged state before is kept"),
});
/** The figures of a restore that was approved: it counts no rows, and is free. */
export const restoreMeta = queryMeta.omit({ rowsReadBasis: true, warnings: true });
const described = describing(["snapshots"]);

/** Mounted under `/v1/db/:ns/:db`. */
export function snapshotRoutes(deps: AppDeps): Hono<Env> {
  return new Hono<Env>()
    .get(
      "/snapshots",
      described("List the snapshots, newest first", z.array(snapshot)),
      validate("query", noQuery),
      async (c) => sendData(c, await listSnapshots(snapshotContext(deps, c))),
    )
    .post(
      "/snapshots",
      described("Take a snapshot", snapshot, { status: 201 }),
      validate("json", snapshotBody),
      async (c) => {
        const data = await takeSnapshot(snapshotContext(deps, c), { label: c.req.valid("json").label });
        return sendData(c, data, 201);
      },
    )
    .get(
      "/archive",
      described("Read how far the database is archived", archive),
      validate("query", noQuery),
      async (c) => sendData(c, await readArchive(snapshotContext(deps, c))),
    )
    .post(
      "/restore",
      described("Restore a snapshot or a moment", restored, {
        also: { status: 201, data: databaseRecord, description: "The new database, with `into`" },
      }),
      validate("json", restoreBody),
      async (c) => {
        const { at, into, snapshot: label } = c.req.valid("json");
        const ctx = { ...snapshotContext(deps, c), again: () => targetNow(deps, c) };
        if (into !== undefined) {
          const data = at === undefined
            ? await restoreInto(ctx, { snapshot: label ?? "", into })
            : await restoreMomentInto(ctx, { at, into });
          return sendData(c, data, 201);
        }
        const held = { ...deps.query, ...ctx, plan: c.get("plan") };
        const { data, replayed } = await restoreInPlace(held, { snapshot: label, at });
        c.set("storedForPlan", held.plan !== undefined);
        return c.json({ success: true, data }, 200, replayed ? { "plan-replayed": "true" } : {});
      },
    );
}

function snapshotContext(deps: AppDeps, c: Context<Env>): RestoreIntoContext {
  const { tenants, clock, control } = deps;
  return { tenants, clock, control, target: c.get("target"), caller: c.get("token") };
}
