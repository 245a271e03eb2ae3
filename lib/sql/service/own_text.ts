// The text that runs in the place of one that a libSQL client has sent. Pure.
import { hideServiceObjects } from "./hide_service_objects.ts";
import { numberPlaceholders } from "../tokens/named_placeholders.ts";
import { readSyntax, type SyntaxResult } from "../grammar/syntax.ts";

/** A text as the pipeline knows it. */
export interface OwnText {
  /** With `?N` in the place of names, and without the service's objects where it lists objects. */
  readonly sql: string;
  /** The names of its placeholders by number; null where none has a name. */
  readonly names: readonly (string | null)[] | null;
}

/** What stands in the place of a text that controls no transaction; `read`: what the grammar says of it. */
export function ownText(sql: string, read: SyntaxResult = readSyntax(sql)): OwnText {
  const isNamed = !read.ok && read.reason === "named_parameter";
  const numbered = isNamed ? numberPlaceholders(sql) : { sql, names: null };
  return { sql: hideServiceObjects(numbered.sql), names: numbered.names };
}
