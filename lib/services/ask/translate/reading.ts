// A question while it is being understood: its words, what each part means, and what is still open.
import type { ColumnFacts } from "../../schema/schema_facts.ts";
import type { AskSchema, AskTable } from "../model/ask_schema.ts";
import { joinPath } from "./join_path.ts";
import type { ColumnRef, Mention } from "./link_names.ts";
import type { Condition } from "./plan.ts";
import type { Token } from "./tokens.ts";

/** Words that may stand between a word and what it is about. */
const between = /^(the|a|an|of|our|my|all|any|their|its|his|her|different|distinct|unique|various|to)$/;

/** The state of one question. */
export class Reading {
  readonly used: boolean[];
  readonly conditions: Condition[] = [];
  /** Tables that the question mentions in any way. */
  readonly context = new Set<AskTable>();
  /** Mentions that have a meaning. */
  readonly spent = new Set<Mention>();
  mentions: Mention[] = [];

  constructor(readonly tokens: readonly Token[], readonly schema: AskSchema, readonly nowMs: number) {
    this.used = tokens.map(() => false);
  }

  word(at: number): string {
    return this.tokens[at]?.lower ?? "";
  }

  /** The number of tokens of the phrase when it begins here and is unused, else 0. */
  phrase(at: number, text: string): number {
    const words = text.split(" ");
    return words.every((word, step) => this.word(at + step) === word && !this.used[at + step])
      ? words.length
      : 0;
  }

  take(at: number, end: number): void {
    for (let index = at; index < end; index++) this.used[index] = true;
  }

  /** Gives a mention its meaning. */
  spend(mention: Mention): void {
    this.spent.add(mention);
    this.take(mention.at, mention.end);
    if (mention.table) this.context.add(mention.table);
  }

  /** The open mention that begins here, after words such as "the" and used words. */
  mentionFrom(at: number): Mention | null {
    for (let index = at; index < this.tokens.length; index++) {
      const mention = this.mentions.find((one) => one.at === index);
      if (mention) {
        if (!this.spent.has(mention)) return mention;
        index = mention.end - 1;
        continue;
      }
      if (!this.used[index] && !between.test(this.word(index))) return null;
    }
    return null;
  }

  /** The mention that ends here, at most `gap` words before `at`. */
  mentionBefore(at: number, fits: (mention: Mention) => boolean, gap = 99): Mention | null {
    return this.mentions.findLast((one) => one.end <= at && at - one.end <= gap && fits(one)) ?? null;
  }

  open(): Mention[] {
    return this.mentions.filter((one) => !this.spent.has(one));
  }

  /** The candidate nearest to the tables in question. */
  columnOf(mention: Mention, fits: (ref: ColumnRef) => boolean = () => true): ColumnRef | null {
    return this.nearest(mention.columns.filter(fits));
  }

  nearest(refs: readonly ColumnRef[]): ColumnRef | null {
    const [first, ...more] = refs;
    if (first === undefined || more.length === 0) return first ?? null;
    return refs.find(({ table }) => this.context.has(table)) ?? this.#byDistance(refs) ?? first;
  }

  /** A column whose name has one of the words: first of the tables in question, then of any table. */
  columnNamed(
    words: readonly string[],
    fits: (table: AskTable, column: ColumnFacts) => boolean,
  ): ColumnRef | null {
    for (const word of words) {
      const refs = this.schema.tables.flatMap((table) =>
        table.columns.filter((column) => fits(table, column) && column.name.toLowerCase().includes(word)).map(
          (column) => ({ table, column }),
        )
      );
      const found = this.nearest(refs);
      if (found) return found;
    }
    return null;
  }

  #byDistance(refs: readonly ColumnRef[]): ColumnRef | null {
    const [root] = this.context;
    if (root === undefined) return null;
    const ranked = refs.map((ref) => ({
      ref,
      steps: joinPath(this.schema, root, new Set([ref.table]))?.length ?? 99,
    }));
    return ranked.toSorted((a, b) => a.steps - b.steps)[0]?.ref ?? null;
  }
}
