// Takes the SQL out of what a language model wrote: JSON, one fenced block, or bare SQL (contract 8).
import type { AskProposal } from "./ask_model.ts";

/** Characters of SQL that a question can need. */
const MAX_SQL = 20_000;

/** Judges form only; whether the SQL may run is decided elsewhere. Never throws. */
export function readModelAnswer(text: string): AskProposal {
  const trimmed = text.trim();
  const whole = readObject(trimmed);
  if (whole !== null) return whole;
  const blocks = [...trimmed.matchAll(/```[^\n`]*\n([^]*?)```/g)].map((match) => (match[1] ?? "").trim());
  const [only, ...more] = blocks;
  if (only !== undefined && more.length === 0) return readObject(only) ?? proposal(only, null);
  if (blocks.length === 0 && /^(?:SELECT|WITH|VALUES)\b/i.test(trimmed)) return proposal(trimmed, null);
  return nothing;
}

const nothing: AskProposal = { ok: false, reason: "the language model gave no statement" };

/** Null when the text is no JSON object. */
function readObject(text: string): AskProposal | null {
  if (!text.startsWith("{")) return null;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof value !== "object" || value === null) return null;
  const sql: unknown = Reflect.get(value, "sql");
  const explanation: unknown = Reflect.get(value, "explanation");
  if (typeof sql !== "string") return nothing;
  return proposal(sql, typeof explanation === "string" ? explanation : null);
}

function proposal(sql: string, explanation: string | null): AskProposal {
  if (sql.trim() === "" || sql.length > MAX_SQL) return nothing;
  return { ok: true, sql: sql.trim(), explanation };
}
