// What texts of SQL are made of, as far as it says how much an engine copies when it compiles them.
import { type AstNode, traverse } from "sqlite3-parser";
import { type Join, joinsOf } from "./join_weight.ts";

/** What a statement, a CTE, a view or a trigger is made of. */
export interface Body {
  queries: number;
  /** Of a CTE those of the whole text. */
  readonly characters: number;
  writes: boolean;
  /** CTEs, and names of what may be views. */
  readonly uses: (Body | string)[];
  /** Of a statement, a view or a trigger. */
  joins: readonly Join[];
}

/** `characters`: of the whole text. */
export function bodyOf(root: AstNode, characters: number): Body {
  const body: Body = { ...emptyBody(characters), joins: joinsOf(root) };
  const owners = [body];
  const scopes: Map<string, Body>[] = [];
  const owner = () => owners.at(-1) ?? body;
  const use = (name: string) => {
    const key = lower(name);
    owner().uses.push(scopes.findLast((scope) => scope.has(key))?.get(key) ?? key);
  };
  traverse(root, {
    enter(node) {
      if ("with" in node && node.with) {
        const made = node.with.ctes.map(({ tblName }) =>
          [lower(tblName.text), emptyBody(characters)] as const
        );
        scopes.push(new Map(made));
      }
      switch (node.type) {
        case "CommonTableExpr":
          owners.push(scopes.at(-1)?.get(lower(node.tblName.text)) ?? body);
          break;
        case "SelectFrom":
          owner().queries++;
          break;
        case "TableSelectTable":
          use(node.tblName.objName.text);
          break;
        case "InTableExpr":
          use(node.rhs.objName.text);
          break;
        case "InsertStmt":
        case "UpdateStmt":
        case "DeleteStmt":
          body.writes = true;
          use(node.tblName.objName.text);
          break;
      }
    },
    leave(node) {
      if ("with" in node && node.with) scopes.pop();
      if (node.type === "CommonTableExpr") owners.pop();
    },
  });
  return body;
}

function emptyBody(characters: number): Body {
  return { queries: 0, characters, writes: false, uses: [], joins: [] };
}

/** In the form in which names are compared. */
export function lower(name: string): string {
  return name.toLowerCase();
}
