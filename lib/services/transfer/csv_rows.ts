// Reads CSV (RFC 4180) piece by piece: cells, and whether they had quotes, because an empty cell is NULL and `""` is an
// empty text.
import { importLimits } from "../../core/limits_of_transfers.ts";
import { lineBreaksIn } from "../../core/plain_text.ts";
import { refused } from "./check_item.ts";

/** A record, and the line on which it begins. */
export interface CsvRecord {
  /** Null: an empty cell without quotes. A line without anything has none. */
  readonly cells: readonly (string | null)[];
  readonly line: number;
}

/** More cells than an engine has columns. */
const MAX_CELLS = 32_767;

/** Cuts text into records. */
export class CsvReader {
  #text = "";
  #line = 1;
  /** Characters before which no end is looked for: a long record is read a few times over, not with each piece. */
  #least = 0;

  /** The records that end in what has come so far. `last`: nothing more comes. Errors: `import_refused`. */
  *take(text: string, last: boolean): Generator<CsvRecord> {
    this.#text += text;
    if (this.#text.length < this.#least && !last) return;
    if (this.#line === 1 && this.#text.startsWith("\uFEFF")) this.#text = this.#text.slice(1);
    let at = 0;
    while (at < this.#text.length) {
      const record = this.#record(at, last);
      if (record === null) break;
      yield { cells: record.cells, line: this.#line };
      this.#line += record.lines;
      at = record.end;
    }
    this.#text = this.#text.slice(at);
    this.#least = Math.min(2 * this.#text.length, importLimits.rowBytes + 1);
    if (this.#text.length > importLimits.rowBytes) throw refused("the row is too long", `line ${this.#line}`);
  }

  /** Null where its end has not come yet. */
  #record(from: number, last: boolean): { cells: (string | null)[]; end: number; lines: number } | null {
    const text = this.#text;
    const cells: (string | null)[] = [];
    let lines = 0;
    for (let at = from;;) {
      const cell = text.charAt(at) === '"' ? this.#quoted(at, last) : this.#bare(at, last);
      if (cell === null) return null;
      lines += cell.lines;
      if (cells.push(cell.value) > MAX_CELLS) {
        throw refused("the row has too many cells", `line ${this.#line}`);
      }
      at = cell.end;
      if (text.charAt(at) === ",") {
        at++;
        continue;
      }
      if (text.startsWith("\r\n", at)) at += 2;
      else if (at < text.length) at++;
      const blank = cells.length === 1 && cells[0] === null;
      return { cells: blank ? [] : cells, end: at, lines: lines + 1 };
    }
  }

  #bare(at: number, last: boolean) {
    ENDS.lastIndex = at;
    const match = ENDS.exec(this.#text);
    // A carriage return may be followed by its line feed.
    const isCut = match === null || (match[0] === "\r" && match.index + 1 === this.#text.length);
    if (isCut && !last) return null;
    const end = match?.index ?? this.#text.length;
    return { value: end === at ? null : this.#text.slice(at, end), end, lines: 0 };
  }

  #quoted(at: number, last: boolean) {
    const text = this.#text;
    let end = text.indexOf('"', at + 1);
    while (end >= 0 && text.charAt(end + 1) === '"') end = text.indexOf('"', end + 2);
    const isCut = end < 0 || end + 1 === text.length ||
      (text.charAt(end + 1) === "\r" && end + 2 === text.length);
    if (isCut && !last) return null;
    if (end < 0) throw refused("a quoted cell has no end", `line ${this.#line}`);
    if (end + 1 < text.length && !/[,\r\n]/.test(text.charAt(end + 1))) {
      throw refused("a quote stands inside of a cell without quotes around it", `line ${this.#line}`);
    }
    const value = text.slice(at + 1, end).replaceAll('""', '"');
    return { value, end: end + 1, lines: lineBreaksIn(value) };
  }
}

const ENDS = /[,\r\n]/g;
