// What showing the rows of an INSERT, UPDATE or DELETE needs: its table, found from the schema alone, and where an UPDATE
// moved rows to other keys, also where a conflict clause or a trigger with IGNORE left some of the matched rows unchanged.
import type { CompileConnection } from "./compile_connection.ts";
import { type PreviewTarget, targetOf } from "./preview_target.ts";
import type { SqlToken } from "../sql/tokens/sql_tokens.ts";
import type { SqlParameter } from "../sql/words/sql_value.ts";

/** The table that a statement changes, and the form that shows its rows. */
export interface StatementTarget {
  readonly target: PreviewTarget;
  /** For an UPDATE that moves rows to other keys: the same UPDATE with unchanged keys. */
  readonly unmoved: BoundText | null;
}

/** Finds the target; null where the statement changes no single table's rows. Throws what the engine throws. */
export function statementTarget(connection: CompileConnection, statement: BoundText): StatementTarget | null {
  const target = targetOf(connection, statement.sql);
  if (target === null) return null;
  return { target, unmoved: target.verb === "UPDATE" ? unmovedForm(statement, target) : null };
}

/** A statement's text and its parameters. */
export interface BoundText {
  readonly sql: string;
  readonly params: readonly SqlParameter[];
}

/** The most rows to compare; with more there is no preview. */
export const MAX_COMPARED = 10_000;

/**
 * Keys from before of the rows that were changed, in the order of their keys from behind (`after`). `met`: the keys that
 * the statement came upon. `there`: those of them at which a row still is. Null where the two lists do not fit together.
 */
export function movedKeys(
  met: readonly string[],
  after: readonly string[],
  there: readonly string[],
): readonly string[] | null {
  const arrived = new Set(after);
  const left = new Set(there);
  const moved = met.filter((key) => arrived.has(key) || !left.has(key));
  return moved.length === after.length ? moved : null;
}

/**
 * The same UPDATE with its keys as they are, which returns the keys from before; null where it leaves them alone.
 * The parameters behind the list that is left out keep their numbers.
 */
function unmovedForm(
  { sql, params }: BoundText,
  target: PreviewTarget,
): BoundText | null {
  const { tokens, qualifier, keyNames, keys, end } = target;
  const setAt = tokens.findIndex(({ key, depth }) => key === "SET" && depth === 0);
  const list = tokens.slice(setAt + 1);
  const stop = list.findIndex(({ key, depth, at }, index) =>
    at >= end || (depth === 0 && (key === "WHERE" || (key === "FROM" && list[index - 1]?.key !== "DISTINCT")))
  );
  const assigned = stop < 0 ? list : list.slice(0, stop);
  if (
    !assigned.some(({ kind, text }) =>
      (kind === "word" || kind === "name") && keyNames.has(text.toLowerCase())
    )
  ) {
    return null;
  }
  const resume = stop < 0 ? end : list[stop]?.at ?? end;
  const [key = ""] = keys;
  const head = tokens[setAt]?.end ?? 0;
  const { text, numbers } = numbered(sql.slice(0, end), tokens, { from: head, to: resume });
  return {
    sql: text(` ${key} = ${qualifier}.${key} `),
    params: params.slice(0, Math.max(0, ...numbers)),
  };
}

/** Cuts a part out of the text; the parameters outside it keep their numbers. */
function numbered(sql: string, tokens: readonly SqlToken[], cut: { from: number; to: number }) {
  const numbers: number[] = [];
  let highest = 0;
  const parts = { head: "", tail: "" };
  let done = 0;
  const copy = (to: number, side: "head" | "tail") => {
    parts[side] += sql.slice(done, to);
    done = to;
  };
  for (const { kind, text, at, end } of tokens) {
    if (kind !== "parameter" || at >= sql.length) continue;
    const number = text === "?" ? highest + 1 : Number(text.slice(1));
    highest = Math.max(highest, number);
    if (at >= cut.from && at < cut.to) continue;
    const side = at < cut.from ? "head" : "tail";
    if (side === "tail" && done <= cut.from) {
      copy(cut.from, "head");
      done = cut.to;
    }
    copy(at, side);
    parts[side] += `?${number}`;
    done = end;
    numbers.push(number);
  }
  if (done <= cut.from) {
    copy(cut.from, "head");
    done = cut.to;
  }
  copy(sql.length, "tail");
  return { text: (between: string) => parts.head + between + parts.tail, numbers };
}
