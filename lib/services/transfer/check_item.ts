// What a stranger's file wants to have made is looked at before it is built: by the grammar that every statement of a tenant
// passes, so that a file can make nothing that a batch could not.
import { AppError } from "../../core/errors.ts";
import { MAX_SQL_LENGTH } from "../../core/limits.ts";
import { sameName } from "../../sql/words/names.ts";
import { readSyntax, type Syntax } from "../../sql/grammar/syntax.ts";

/** The part of an item that counts here. */
interface ItemText {
  readonly t: string;
  readonly type?: string;
  readonly name?: string;
  readonly sql?: string;
  readonly at?: string;
}

const KINDS: Readonly<Record<string, string>> = {
  CreateTableStmt: "table",
  CreateVirtualTableStmt: "virtual",
  CreateIndexStmt: "index",
  CreateViewStmt: "view",
  CreateTriggerStmt: "trigger",
};

/** Of libSQL: the only thing in a dump of Turso that a database here cannot have, and no row is lost with it. */
const VECTOR_INDEX = /\blibsql_vector_idx\b/i;

/** Returns the item's JSON, with its kind and name as the text has them, or that it is not kept. Errors: `import_refused`. */
export function checkItem(json: string): string {
  const item = parse(json);
  if (item.t !== "object" && item.t !== "statement") return json;
  const { sql = "", at, name = "" } = item;
  const refuse = (message: string) => refused(name === "" ? message : `${item.type} ${name}: ${message}`, at);
  if (sql.length > MAX_SQL_LENGTH) throw refuse(`the statement is longer than ${MAX_SQL_LENGTH} characters`);
  const read = readSyntax(sql);
  if (!read.ok) throw refuse(read.message);
  const { syntax } = read;
  if (syntax.kind === "CreateIndexStmt" && VECTOR_INDEX.test(syntax.refusal ?? "")) {
    return JSON.stringify({
      t: "notKept",
      what: `index ${ownName(sql)}: it is one of vectors; they stay as BLOBs`,
    });
  }
  if (syntax.refusal !== null) throw refuse(`${syntax.refusal} is not available`);
  if (item.t === "statement") {
    if (syntax.kind !== "InsertStmt") throw refuse("only INSERT may stand here");
    // A line that makes its rows of others would be as large as it likes, and nothing ends it in the middle.
    if (syntax.readsRows) {
      throw refuse("an INSERT has to have its rows in it; send one that reads them in a migration");
    }
    return json;
  }
  const type = KINDS[syntax.kind];
  if (type === undefined) throw refuse("only CREATE may stand here");
  const made = nameOf(syntax, sql);
  if (name !== "" && (type !== item.type || !sameName(made, name))) {
    throw refuse("its text makes something else");
  }
  return JSON.stringify({ ...item, type, name: name === "" ? made : name });
}

/** `import_refused`; `at` says where in the file. */
export function refused(message: string, at?: string | null): AppError {
  return new AppError("import_refused", { issues: [{ path: at ?? "file", message }] });
}

/** Of a table its name; others are known by theirs, and only for messages. */
function nameOf({ target, kind }: Syntax, sql: string): string {
  if (kind === "CreateIndexStmt" || kind === "CreateTriggerStmt") return ownName(sql);
  return target ?? "";
}

/** The name of an index or a trigger, whose target is its table. */
function ownName(sql: string): string {
  const [, quoted, bare = ""] =
    /^\s*CREATE\s+(?:UNIQUE\s+)?(?:INDEX|TRIGGER)\s+(?:IF\s+NOT\s+EXISTS\s+)?(?:("(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|'(?:[^']|'')*')|([^\s(]+))/i
      .exec(sql) ?? [];
  if (quoted === undefined) return bare;
  const open = quoted.charAt(0);
  return open === "[" ? quoted.slice(1, -1) : quoted.slice(1, -1).replaceAll(open + open, open);
}

/** Guarantee: the child that reads has written the item. */
function parse(json: string): ItemText {
  return JSON.parse(json);
}
