// Lists in requests of which not each element is checked against the schema once many have failed: a body has room for
// millions, and each failure costs far more than the element.
import { z } from "zod";
import { issuesOf, MAX_ISSUES } from "./issues.ts";

/** How hono and zod know such a list. */
export type ListOf<Element extends z.ZodType> = z.ZodType<z.output<Element>[], z.input<Element>[]>;

/** A list of at most `most` elements. */
export function listOf<Element extends z.ZodType>(element: Element, most: number): ListOf<Element> {
  const any = z.array(z.any().meta(documented(element))).max(most);
  return any.transform((items, ctx) => {
    const read: z.output<Element>[] = [];
    for (const [at, item] of items.entries()) {
      const parsed = element.safeParse(item);
      if (parsed.success) read.push(parsed.data);
      else {
        for (const { path, message } of issuesOf(element, item)) {
          ctx.issues.push({ code: "custom", message, path: path === "" ? [at] : [at, path], input: item });
        }
      }
      if (ctx.issues.length >= MAX_ISSUES) break;
    }
    return ctx.issues.length > 0 ? z.NEVER : read;
  });
}

/** What OpenAPI says of values that such a schema describes. */
export function documented(schema: z.ZodType): Record<string, unknown> {
  const { $schema: _, ...described } = z.toJSONSchema(schema, { io: "input" });
  return described;
}
