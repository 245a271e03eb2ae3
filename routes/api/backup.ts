// GET /api/backup: the control plane as one file, for the operator.
import { Hono } from "hono";
import { describeRoute } from "hono-openapi";
import { z } from "zod";
import { isoTime } from "../../lib/core/clock.ts";
import { takeBackup } from "../../lib/services/backup/take_backup.ts";
import { answers, wholeAnswer } from "../http/answers.ts";
import type { AppDeps } from "../http/app_deps.ts";
import type { Env } from "../http/env.ts";
import { noQuery } from "../http/schemas.ts";
import { manageContext } from "../http/service_contexts.ts";
import { refuseHead } from "../middleware/not_found.ts";
import { validate } from "../middleware/validate.ts";

const MEDIA_TYPE = "application/x-tar";

/** Mounted under `/api`. */
export function backupRoutes(deps: AppDeps): Hono<Env> {
  return new Hono<Env>()
    .get(
      "/backup",
      describeRoute({
        summary: "Back up the control plane",
        tags: ["backup"],
        responses: {
          ...answers(z.object({})),
          200: { description: "A tar file", content: { [MEDIA_TYPE]: {} } },
        },
      }),
      validate("query", noQuery),
      async (c) => {
        refuseHead(c);
        const ctx = { ...deps, ...manageContext(deps, c) };
        const { atMs, sizeBytes, body } = await takeBackup(ctx);
        c.env?.expectLargeAnswer?.(sizeBytes);
        const name = `cubby-${isoTime(atMs).replaceAll(/[:.]/g, "-")}.tar`;
        const headers = {
          "content-type": MEDIA_TYPE,
          "content-disposition": `attachment; filename="${name}"`,
          "content-length": String(sizeBytes),
          "cache-control": "no-store",
        };
        return wholeAnswer(c, body, { status: 200, headers });
      },
    );
}
