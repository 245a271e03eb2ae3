// The envelope around every `/v1` answer, for the API description.
import type { DescribeRouteOptions } from "hono-openapi";
import { resolver } from "hono-openapi";
import { z } from "zod";

/** `responses` of a route whose success carries `data` (and `meta` where given). */
export function answers(
  data: z.ZodType,
  options: { readonly meta?: z.ZodType; readonly status?: 200 | 201 } = {},
): NonNullable<DescribeRouteOptions["responses"]> {
  const envelope = z.object({
    success: z.literal(true),
    data,
    ...(options.meta ? { meta: options.meta } : {}),
  });
  return {
    [options.status ?? 200]: {
      description: "Success",
      content: { "application/json": { schema: resolver(envelope) } },
    },
    default: {
      description: "Failure",
      content: { "application/json": { schema: resolver(failureEnvelope) } },
    },
  };
}

const failureEnvelope = z.object({
  success: z.literal(false),
  error: z.string(),
  code: z.string(),
  errorDetail: z.object({
    kind: z.string(),
    table: z.string().nullable(),
    column: z.string().nullable(),
    hint: z.string(),
    columns: z.array(z.string()).optional(),
  }).optional(),
  issues: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
});
