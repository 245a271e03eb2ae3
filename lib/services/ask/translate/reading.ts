// A question while it is being understood: its words, what each part may mean, and what is still open.
import { type ColumnRef, isDate } from "./column_kinds.ts";
import { sameName } from "../../../sql/words/names.ts";
import type { Refusal } from "../model/ask_model.ts";
import type { AskSchema, AskTable } from "../model/ask_schema.ts";
import { joinPath } from "./join_path.ts";
import { harmless, lightVerbs, negations } from "./lexicon.ts";
import type { Mention } from "./link_names.ts";
import type { Condition } from "./plan.ts";
import type { Token } from "./tokens.ts";

/** The state of one question. */
export class Reading {
  readonly used: boolean[];
  readonly conditions: Condition[] = [];
  /** Mentions that have a meaning. */
  readonly spent = new Set<Mention>();
  /** What there is none of, to which values that follow belong: "never borrowed a novel". */
  absence: { readonly table: AskTable; readonly inner: Condition[] } | null = null;
  /** Mentions of columns that the answer shows. */
  readonly shown = new Set<Mention>();
  mentions: Mention[] = [];
  /** The table whose rows the question is about. */
  subject: AskTable | null = null;
  /** Whether only a value says so. */
  subjectOfValue = false;
  /** Where its noun stands; -1 where none does. */
  subjectAt = -1;
  /** The column that is asked for where no table is: "which cities". */
  asked: ColumnRef | null = null;
  /** Whether something is counted or added up. */
  measured = false;
  /** Why it is refused, where that is known better than by a word that is left over. */
  problem: Refusal | null = null;
  /** Whether two things were as likely: then that is why a word is left over. */
  doubtful = false;
  readonly #distances = new Map<AskTable, number>();
  #measured: AskTable | null = null;

  constructor(readonly tokens: readonly Token[], readonly schema: AskSchema, readonly nowMs: number) {
    this.used = tokens.map(() => false);
  }

  word(at: number): string {
    return this.tokens[at]?.lower ?? "";
  }

  /** The word, or nothing where it has a meaning already. */
  open(at: number): string {
    return this.used[at] ? "" : this.word(at);
  }

  /** The number of tokens of the phrase when it begins here and is unused, else 0. */
  phrase(at: number, text: string): number {
    const words = text.split(" ");
    return words.every((word, step) => this.open(at + step) === word) ? words.length : 0;
  }

  /** The words from one place to another, as they were asked. */
  said(at: number, end: number): string {
    return this.tokens.slice(at, end).map(({ text }) => text).join(" ").replaceAll(/[\p{C}"]/gu, "");
  }

  take(at: number, end: number): void {
    for (let index = at; index < end; index++) this.used[index] = true;
  }

  /** Refuses the question, unless it is refused already. */
  refuse(reason: string, schemaWords = ""): void {
    this.problem ??= { reason, schemaWords };
  }

  /** Gives a mention its meaning. */
  spend(mention: Mention): void {
    this.spent.add(mention);
    this.take(mention.at, mention.end);
  }

  openMentions(): Mention[] {
    return this.mentions.filter((one) => !this.spent.has(one));
  }

  /** The open mention that begins here or behind words that only hold the question together. */
  next(at: number): Mention | null {
    for (let index = at; index < this.tokens.length; index++) {
      const mention = this.mentions.find((one) => one.at === index && !this.spent.has(one));
      if (mention) return mention;
      if (!this.used[index] && !harmless.has(this.word(index))) return null;
    }
    return null;
  }

  /** The mention that ends at most `gap` words before `at`. */
  before(at: number, gap: number, fits: (mention: Mention) => boolean): Mention | null {
    return this.openMentions().findLast((one) => one.end <= at && at - one.end <= gap && fits(one)) ?? null;
  }

  /** How far a table is from the subject along foreign keys; rows that it refers to are nearer than those that refer to it. */
  distance(table: AskTable): number {
    if (this.subject === null || this.subject === table) return 0;
    if (this.#measured !== this.subject) this.#distances.clear();
    this.#measured = this.subject;
    const known = this.#distances.get(table) ?? this.#measure(table, this.subject);
    this.#distances.set(table, known);
    return known;
  }

  /** Whether several rows of the table may belong to one of the subject. */
  hasMany(table: AskTable): boolean {
    return this.distance(table) % 1 !== 0;
  }

  #measure(table: AskTable, subject: AskTable): number {
    const path = joinPath(this.schema, subject, new Set([table]));
    if (path === null) return 99;
    return path.length + (path.some(({ many }) => many) ? 0.5 : 0);
  }

  /** The candidate nearest to the subject; null where none fits, or where two are as near. */
  choose<Of>(candidates: readonly Of[], refOf: (one: Of) => ColumnRef): Of | null {
    const ranked = candidates.map((one) => ({ one, ref: refOf(one), far: this.distance(refOf(one).table) }))
      .toSorted((a, b) => a.far - b.far);
    // A view repeats columns of tables.
    const [first, second] = ranked.filter((one) =>
      one.far > (ranked[0]?.far ?? 0) || !isRepeated(one.ref, ranked)
    );
    if (first === undefined || first.far >= 99) return null;
    if (second && second.far === first.far && second.ref.column !== first.ref.column) {
      this.doubtful = true;
      return null;
    }
    return first.one;
  }

  column(mention: Mention, fits: (ref: ColumnRef) => boolean = () => true): ColumnRef | null {
    const columns = mention.columns.filter(fits);
    // "sold" is when, "sold for" is for how much.
    const when = /^(for|at|price)$/.test(this.word(mention.end)) ||
        !/(ed|ght|old|ent|id)$/.test(this.word(mention.end - 1))
      ? []
      : columns.filter(({ column }) => isDate(column));
    return this.choose(when.length > 0 ? when : columns, (ref) => ref);
  }

  /** Whether the word is one of a state that nothing was made of yet: "sold" is more than a verb where some are not. */
  saysState(at: number): boolean {
    return this.openMentions().some((one) => one.at <= at && one.end > at && one.states.length > 0);
  }

  /** Where the negation of a mention stands, behind which only auxiliary words come and those that `also` names; -1 for none. */
  negation(mention: Mention, also = /^$/): number {
    let at = mention.at - 1;
    const passes = (word: string) =>
      word !== "" && !negations.has(word) && (isAuxiliary(word) || also.test(word));
    while (at >= 0 && passes(this.open(at))) at--;
    return at >= 0 && negations.has(this.open(at)) ? at : -1;
  }
}

function isRepeated({ table, column }: ColumnRef, among: readonly { readonly ref: ColumnRef }[]): boolean {
  return table.kind === "view" &&
    among.some(({ ref }) => ref.table.kind !== "view" && sameName(ref.column.name, column.name));
}

function isAuxiliary(word: string): boolean {
  return lightVerbs.has(word) || harmless.has(word) || word === "already" || word === "them";
}
