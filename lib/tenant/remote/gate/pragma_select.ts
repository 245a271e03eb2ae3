// PRAGMAs as a server with tokens takes them: it counts most of them as writes, and lets no reading token run them. What
// each of the read list tells is also told by a table function, whose reading is a read.
import { readSyntax } from "../../../sql/syntax.ts";
import { quoteText } from "../../../sql/quote.ts";

/** The text of a reading statement in the form in which it may be sent: the same columns and rows. */
export function asSelect(sql: string): string {
  if (!/pragma/i.test(sql)) return sql;
  const read = readSyntax(sql);
  if (!read.ok || read.syntax.pragma === null || read.syntax.pragma.sets) return sql;
  const { name, argument, schema } = read.syntax.pragma;
  // Another schema than `main` has nothing to tell but here.
  const within = name === "table_list" && schema !== null ? ` WHERE schema = ${quoteText(schema)}` : "";
  return `SELECT * FROM pragma_${name}${argument === null ? "" : `(${quoteText(argument)})`}${within}`;
}
