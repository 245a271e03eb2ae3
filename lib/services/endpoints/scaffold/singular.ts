// English singulars for slugs and labels.
import pluralize from "pluralize";

/** Of the last word of a name in snake_case: `order_items` → `order_item`, `status` → `status`. */
export function singular(name: string): string {
  const words = name.split("_");
  const last = words.pop() ?? "";
  return [...words, pluralize.singular(last)].join("_");
}
