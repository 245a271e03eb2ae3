// Lists in requests of which not each element is checked against the schema once many have failed: a body has room for
// millions, and each failure costs far more than the element.
import { z } from "zod";
import { MAX_ISSUES } from "../../lib/core/limits.ts";
import { readWith } from "./issues.ts";

/** How hono and zod know such a list. */
export type ListOf<Element extends z.ZodType> = z.ZodType<z.output<Element>[], z.input<Element>[]>;

/** A list of at most `most` elements, which stay as they came. */
export function listOf<Element extends z.ZodType>(element: Element, most: number): ListOf<Element> {
  return anyListOf(element, most).check(({ value, issues }) => {
    // Of a list that is too long no element counts.
    if (issues.length === 0) readEach(element, value, issues);
  });
}

/** The same of elements that the schema makes something else of. OpenAPI takes no examples of what holds such a list. */
export function readListOf<Element extends z.ZodType>(element: Element, most: number): ListOf<Element> {
  return anyListOf(element, most).transform((items, { issues }) => {
    const read = readEach(element, items, issues);
    return issues.length > 0 ? z.NEVER : read;
  });
}

/** What OpenAPI says of values that such a schema describes. */
export function documented(schema: z.ZodType): Record<string, unknown> {
  const { $schema: _, ...described } = z.toJSONSchema(schema, { io: "input" });
  return described;
}

function anyListOf(element: z.ZodType, most: number) {
  return z.array(z.any().meta(documented(element))).max(most);
}

/** The elements as the schema reads them; what is wrong with some goes into `issues`. */
function readEach<Element extends z.ZodType>(
  element: Element,
  items: readonly unknown[],
  issues: z.core.$ZodRawIssue[],
): z.output<Element>[] {
  const read: z.output<Element>[] = [];
  for (const [at, item] of items.entries()) {
    const one = readWith(element, item);
    if (one.ok) read.push(one.data);
    else {
      for (const { path, message } of one.issues) {
        issues.push({ code: "custom", message, path: path === "" ? [at] : [at, path], input: item });
      }
    }
    if (issues.length >= MAX_ISSUES) break;
  }
  return read;
}
