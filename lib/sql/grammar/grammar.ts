// SQLite's own grammar, read as the engine reads it: numbers may have `_` between their digits (1_000_000), and FILTER, OVER,
// WINDOW and WITHIN are names wherever they cannot be keywords. The parser knows neither by itself.
import { createParseDiagnosticArray, type ParseStmtResult, type Token, withOptions } from "sqlite3-parser";

type TokenType = Token["type"];

const grammar = withOptions({ digitSeparator: "_" });
const { symbols, tables } = grammar.parserDefs;

export const { tokenize } = grammar;

const [END, SEMI, LP, RP, AS] = [typed("$"), typed("SEMI"), typed("LP"), typed("RP"), typed("AS")];
const [FILTER, OVER, WINDOW, WITHIN] = [typed("FILTER"), typed("OVER"), typed("WINDOW"), typed("WITHIN")];
const [ID, STRING, JOIN_KW, ILLEGAL] = [typed("ID"), typed("STRING"), typed("JOIN_KW"), typed("ILLEGAL")];
const MAY_BE_NAMES = /filter|over|window|within/i;

/** Parses one statement. Where those words stand for names, the parser has refused them: then once more with them as names. */
export function parseStmt(sql: string): ParseStmtResult {
  const parsed = grammar.parseStmt(sql);
  return parsed.status === "ok" || !MAY_BE_NAMES.test(sql) ? parsed : parseWithNames(sql);
}

/** The type of a terminal: its position among the symbols. */
function typed(name: string): TokenType {
  return symbols.indexOf(name) as TokenType;
}

function parseWithNames(sql: string): ParseStmtResult {
  const state = grammar.createState();
  const session = grammar.createEngine(grammar.reduce, state);
  for (const token of withNames(sql)) {
    const { type, text, span } = token;
    if (type === ILLEGAL) return failed(sql, { message: `unrecognized token: "${text}"`, span });
    session.next(type, token, span);
    if (state.cmds.length > 0 && type !== SEMI && type !== END) {
      return failed(sql, { message: "expected end of input after single statement", span });
    }
    if (session.phase === "errored") {
      return failed(sql, {
        message: text === "" ? "incomplete input" : `near "${text}": syntax error`,
        span,
      });
    }
  }
  const [root] = state.cmds;
  if (root === undefined || state.errors.length > 0) return failed(sql, ...state.errors);
  return { status: "ok", root, tail: sql.length };
}

function failed(
  source: string,
  ...errors: Parameters<typeof createParseDiagnosticArray>[1][number][]
): ParseStmtResult {
  return { status: "error", errors: createParseDiagnosticArray({ source }, errors) };
}

/** The tokens as SQLite's `sqlite3RunParser` hands them on, with the end of the statement and of the text. */
function* withNames(sql: string): Generator<Token> {
  let before: Token | null = null;
  let token: Token | null = null;
  let next: Token | null = null;
  for (const afterNext of untilBehind(grammar.tokenize(sql))) {
    if (token !== null) {
      const read: Token = isName(token, { before, next, afterNext }) ? { ...token, type: ID } : token;
      yield read;
      before = read;
    }
    [token, next] = [next, afterNext];
  }
  const span = { offset: sql.length, length: 0, line: 1, col: 0 };
  if (before?.type !== SEMI) yield { type: SEMI, text: "", span };
  yield { type: END, text: "", span };
}

/** So that each token has been the first of three. */
function* untilBehind(tokens: Iterable<Token>): Generator<Token | null> {
  yield* tokens;
  yield* [null, null, null];
}

/** By what stands around it, as `analyzeFilterKeyword` and its neighbours in SQLite's tokenize.c decide. */
function isName(
  { type }: Token,
  around: Readonly<Record<"before" | "next" | "afterNext", Token | null>>,
): boolean {
  const follows = around.before?.type === RP;
  if (type === FILTER) return !follows || around.next?.type !== LP;
  if (type === OVER) return !follows || !(around.next?.type === LP || canBeName(around.next));
  // No engine here is built with WITHIN GROUP.
  if (type === WITHIN) return true;
  return type === WINDOW && !(canBeName(around.next) && around.afterNext?.type === AS);
}

function canBeName(token: Token | null): boolean {
  if (token === null) return false;
  return [ID, STRING, JOIN_KW, WINDOW, OVER].includes(token.type) || tables.yyFallback?.[token.type] === ID;
}
