// Runs a statement with its parameter sets on a server: some hundred sets are one request, in the transaction that is open.
import { type EngineFailure, plainFailure } from "../../../engine/engine_failure.ts";
import type { ParamSets } from "../../../sql/words/param_sets.ts";
import { integerJson, type RowForm } from "../../../sql/words/row_form.ts";
import type { SqlParameter } from "../../../sql/words/sql_value.ts";
import { bytesOf, partsOfResult, ROWID_TABLE, SetsBuilder, VIRTUAL_TABLE } from "../../calls/sets_result.ts";
import type { Answer, CallerStep, SetsAsk } from "../../calls/work.ts";
import type { TenantCall } from "../../tenant_store.ts";
import {
  all,
  type HranaStep,
  type HranaValue,
  ifError,
  ifOk,
  inTransaction,
  type StepResult,
} from "../hrana/hrana.ts";
import { RemoteFailure } from "../hrana/remote_failure.ts";
import { hranaValue, integerOf, resultJson } from "../hrana/remote_values.ts";
import { stepFailure } from "../hrana/step_failure.ts";
import { StepList } from "../hrana/step_list.ts";

/** Sets of one request, and about how many characters it may have: the text travels with each set. */
const SETS_AT_ONCE = 250;
const REQUEST_CHARACTERS = 1_000_000;
/** Characters of a step beside its text and values. */
const STEP_CHARACTERS = 200;
/** At most what a number takes in the binary form, and a value beside its text or bytes. */
const VALUE_CHARACTERS = 14;

/** The figures of the run that has just ended; the rowid as text, because a number may be too small for it. */
function figuresText(noted: string | null): string {
  return `SELECT total_changes() - ${noted ?? 0}, changes(), CAST(last_insert_rowid() AS TEXT)`;
}

/** Sends steps in the form of the protocol that has infinities. */
export type SendPieces = (steps: readonly HranaStep[]) => Promise<readonly StepResult[]>;

/** Cuts sets into pieces that each fit one request. */
export function piecesOf(sql: string, paramSets: ParamSets): ParamSets[] {
  const pieces: ParamSets[] = [];
  let piece: (readonly SqlParameter[])[] = [];
  let characters = 0;
  for (const set of paramSets) {
    const length = sql.length + STEP_CHARACTERS + lengthOf(set);
    if (piece.length > 0 && (piece.length >= SETS_AT_ONCE || characters + length > REQUEST_CHARACTERS)) {
      pieces.push(piece);
      [piece, characters] = [[], 0];
    }
    piece.push(set);
    characters += length;
  }
  return piece.length > 0 ? [...pieces, piece] : pieces;
}

function lengthOf(set: readonly SqlParameter[]): number {
  return set.reduce<number>((sum, value) => {
    if (typeof value === "string") return sum + VALUE_CHARACTERS + value.length;
    return sum + VALUE_CHARACTERS +
      (typeof value === "object" && value !== null && "$blob" in value ? value.$blob.length : 0);
  }, 0);
}

/** Collects what sets have done, up to the first that fails or passes a bound. */
export class SetsCollector {
  readonly sets = new SetsBuilder();
  failure: EngineFailure | null = null;
  /** The failed set ran to its end, but its rows pass a bound. */
  tooLarge = false;
  rowsRead = 0;
  ms = 0;
  #rowCount = 0;
  #rowBytes = 0;

  constructor(private readonly bounds: TenantCall["bounds"], private readonly rowForm: RowForm) {}

  /** Takes the answer of one set. `figures`: as `figuresText` asks for them; null for a read. */
  add(sql: string, step: StepResult, figures: SetFigures | null): void {
    if (this.failure !== null) return;
    if (step === null) throw new RemoteFailure("lost_stream");
    if (!step.ok) {
      this.failure = stepFailure(step, sql);
      return;
    }
    const { rows, bytes } = this.bounds;
    const { columnsJson, rows: text } = partsOfResult(
      resultJson(step, { rows: Infinity, bytes: Infinity }, this.rowForm),
    );
    this.#rowCount += step.rows.length;
    const one = {
      columnsJson,
      rows: text,
      returned: [step.rows.length],
      written: [figures?.changes ?? 0],
      own: [figures?.own ?? 0],
      rowids: figures?.rowid === undefined ? null : [figures.rowid],
    };
    this.#rowBytes += bytesOf(text);
    this.rowsRead += step.rowsRead;
    this.ms += step.ms;
    if (this.#rowCount > rows) this.#pass(`more than ${rows} rows`);
    else if (this.#rowBytes > bytes) this.#pass(`more than ${bytes} bytes`);
    else this.sets.add(one);
  }

  #pass(message: string): void {
    this.failure = plainFailure("result_too_large", message);
    this.tooLarge = true;
  }
}

/** What one set has changed. */
interface SetFigures {
  readonly changes: number;
  readonly own: number;
  /** Absent: the statement does not tell. */
  readonly rowid?: number | string | null;
}

/** Runs the sets of a step. Throws what `send` throws, and `RemoteFailure` where the transaction is gone. */
export async function answerSets(
  send: SendPieces,
  { statement: { sql, level }, bounds, rowForm }: CallerStep,
  { paramSets, rowidOf, atomic, noted = null, done }: SetsAsk,
): Promise<Answer> {
  const collector = new SetsCollector(bounds, rowForm);
  const asked = figuresText(noted);
  const [rowidTable, first, virtual] = await send([
    { stmt: { sql: ROWID_TABLE, args: [hranaValue(rowidOf)] } },
    { stmt: { sql: asked } },
    { stmt: { sql: VIRTUAL_TABLE } },
  ]);
  // A full-text index writes rows of earlier sets when one begins, which are counted for none.
  const plain = level === "read" || (atomic && rowOf(virtual).length === 0);
  const tellsRowids = rowidOf !== null && rowidTable?.ok === true && rowidTable.rows.length > 0;
  let total = integerOf(rowOf(first)[0]);
  for (const piece of piecesOf(sql, paramSets)) {
    const { steps, places } = setSteps(sql, piece, { asked, plain });
    const answers = await send(steps);
    for (const { base, run, figures } of places) {
      if (base !== null) {
        total = integerOf(rowOf(answers[base])[0] ?? { type: "integer", value: String(total) });
      }
      const [now, own, rowid] = rowOf(answers[figures]);
      const changes = now === undefined ? 0 : integerOf(now) - total;
      total += changes;
      const ownRows = changes === 0 ? 0 : integerOf(own);
      collector.add(sql, answers[run] ?? null, {
        changes,
        own: ownRows,
        ...(tellsRowids ? { rowid: ownRows === 0 ? null : rowidJson(rowid, rowForm) } : {}),
      });
      if (collector.failure !== null) break;
    }
    if (collector.failure !== null) break;
    done?.(collector.sets.count);
  }
  const { sets: { part }, failure, tooLarge, rowsRead, ms } = collector;
  const sum = (list: readonly number[]) => list.reduce((sum, one) => sum + one, 0);
  const figures = { rowsRead, ms, changes: sum(part.written), ownRows: sum(part.own) };
  return { ok: true, rows: [], json: "", figures, sets: { part, failure, tooLarge } };
}

/** Where the answers to one set stand. */
interface SetPlaces {
  /** The figures in front of it, inside of its savepoint; null: those behind the set before it. */
  readonly base: number | null;
  readonly run: number;
  readonly figures: number;
}

/** Each set runs on condition of the one before. `asked`: its figures. `plain`: a failed one needs no savepoint of its own. */
function setSteps(
  sql: string,
  piece: ParamSets,
  { asked, plain }: { readonly asked: string; readonly plain: boolean },
) {
  const list = new StepList();
  let before: number | null = null;
  const places = piece.map((params): SetPlaces => {
    const ready = before === null ? inTransaction : all(ifOk(before), inTransaction);
    const own = plain ? null : list.add("SAVEPOINT one_set", ready);
    const base = own === null ? null : list.add(asked, ifOk(own));
    const run = list.add(sql, own === null ? ready : ifOk(own), params.map(hranaValue));
    const figures = list.add(asked, own === null ? ready : ifOk(own));
    if (own !== null) {
      list.add("ROLLBACK TO one_set", all(ifOk(own), ifError(run), inTransaction));
      list.add("RELEASE one_set", all(ifOk(own), inTransaction));
    }
    before = run;
    return { base, run, figures };
  });
  return { steps: list.steps, places };
}

function rowOf(step: StepResult | undefined): readonly HranaValue[] {
  return step?.ok ? step.rows[0] ?? [] : [];
}

function rowidJson(value: HranaValue | undefined, rowForm: RowForm): number | string | null {
  return value?.type === "text" ? integerJson(value.value, rowForm) : null;
}
