// House rules that the linter does not know. The linter loads this file by its default export.

interface ForbiddenCall {
  /** Object and member as written. */
  readonly object: string;
  readonly member: string;
  /** Files and folders of the repository that may. */
  readonly allowed: readonly string[];
  readonly message: string;
}

type AnyFunction =
  | Deno.lint.FunctionDeclaration
  | Deno.lint.FunctionExpression
  | Deno.lint.ArrowFunctionExpression;

const CLOCK = "Take a `Clock` by argument; only lib/core/clock.ts reads the machine's clock";
const ENVIRONMENT =
  "Read settings from `Config`; only lib/config.ts reads the environment, and lib/cli/environment.ts that of the commands";
const KEY = "Build the key in lib/store/keys.ts; an array literal is no KV key anywhere else";

const settings = ["lib/config.ts", "lib/cli/environment.ts", "tests/"];
/** What runs in browsers has no `Clock`. */
const clock = ["lib/core/clock.ts", "routes/console/browser/", "tests/"];
const keys = [
  "lib/store/account_keys.ts",
  "lib/store/keys.ts",
  "lib/store/changes_keys.ts",
  "lib/store/oauth_keys.ts",
  "lib/store/money_keys.ts",
  "lib/store/people_keys.ts",
  "tests/",
];

/** One row a member access that belongs to one place. */
const forbidden: readonly ForbiddenCall[] = [
  { object: "Deno", member: "env", allowed: settings, message: ENVIRONMENT },
  { object: "process", member: "env", allowed: settings, message: ENVIRONMENT },
  {
    object: "Deno",
    member: "openKv",
    allowed: ["main.ts", "lib/cli/backup.ts", "tests/"],
    message: "Take the `Deno.Kv` by argument; only main.ts opens it, and lib/cli/backup.ts a backup's",
  },
  { object: "Date", member: "now", allowed: clock, message: CLOCK },
  { object: "performance", member: "now", allowed: clock, message: CLOCK },
  { object: "performance", member: "timeOrigin", allowed: clock, message: CLOCK },
  { object: "process", member: "hrtime", allowed: clock, message: CLOCK },
  { object: "Temporal", member: "Now", allowed: clock, message: CLOCK },
];

/** Methods of `Deno.Kv` and `Deno.AtomicOperation` whose first argument is a key. */
const takesKey = new Set(["get", "set", "delete", "sum", "min", "max"]);
/** Those that take objects with keys in them, or lists of keys, and the functions of lib/store/ around both. */
const takesKeys = /^(getMany|list|check|mutate|watch|enqueue|listPage|compareAndSet|kv[A-Z]\w*)$/;
const keyProperties = new Set(["key", "prefix", "start", "end", "keysIfUndelivered"]);

const plugin: Deno.lint.Plugin = {
  name: "house",
  rules: {
    "one-place": {
      create: (context) => ({
        MemberExpression(node) {
          report(context, node, { object: globalName(node.object), member: memberName(node) });
        },
        // `const { openKv } = Deno` reads the same member.
        VariableDeclarator(node) {
          const object = node.init === null ? null : globalName(node.init);
          if (object === null || node.id.type !== "ObjectPattern") return;
          for (const property of node.id.properties) {
            if (property.type !== "Property" || property.key.type !== "Identifier") continue;
            report(context, node, { object, member: property.key.name });
          }
        },
        NewExpression(node) {
          if (node.callee.type !== "Identifier" || node.callee.name !== "Date") return;
          if (node.arguments.length > 0 || isAllowed(context.filename, clock)) return;
          context.report({ node, message: CLOCK });
        },
        CallExpression(node) {
          if (node.callee.type !== "Identifier" || node.callee.name !== "Date") return;
          if (!isAllowed(context.filename, clock)) context.report({ node, message: CLOCK });
        },
      }),
    },
    "keys-in-one-place": {
      create: (context) => {
        if (isAllowed(context.filename, keys)) return {};
        const builder = (node: AnyFunction) => {
          if (isKeyType(node.returnType?.typeAnnotation)) context.report({ node, message: KEY });
        };
        return {
          CallExpression(node) {
            const name = calleeName(node);
            const literal = takesKey.has(name)
              ? node.arguments.slice(0, 1).some(isKeyLiteral)
              : takesKeys.test(name) && node.arguments.some(holdsKeyLiteral);
            if (literal) context.report({ node, message: KEY });
          },
          VariableDeclarator(node) {
            if (node.id.type !== "Identifier" || node.init?.type !== "ArrayExpression") return;
            if (isKeyType(node.id.typeAnnotation?.typeAnnotation)) context.report({ node, message: KEY });
          },
          TSAsExpression(node) {
            if (node.expression.type === "ArrayExpression" && isKeyType(node.typeAnnotation)) {
              context.report({ node, message: KEY });
            }
          },
          TSSatisfiesExpression(node) {
            if (node.expression.type === "ArrayExpression" && isKeyType(node.typeAnnotation)) {
              context.report({ node, message: KEY });
            }
          },
          FunctionDeclaration: builder,
          FunctionExpression: builder,
          ArrowFunctionExpression: builder,
        };
      },
    },
    "no-double-cast": {
      create: (context) => ({
        TSAsExpression(node) {
          if (node.expression.type !== "TSAsExpression") return;
          if (node.expression.typeAnnotation.type !== "TSUnknownKeyword") return;
          context.report({ node, message: "Narrow the value with a check; `as unknown as` proves nothing" });
        },
      }),
    },
    "no-default-export": {
      create: (context) => ({
        ExportDefaultDeclaration(node) {
          if (isAllowed(context.filename, ["tests/lint/house.ts"])) return;
          context.report({ node, message: "Export by name, the same as the file's" });
        },
      }),
    },
    "no-literal-spread": {
      create: (context) => ({
        ObjectExpression(node) {
          if (isAllowed(context.filename, ["tests/"])) return;
          for (const property of node.properties) {
            if (property.type !== "SpreadElement" || property.argument.type !== "ObjectExpression") continue;
            context.report({
              node: property,
              message: "Write the members themselves; nothing is spread here",
            });
          }
        },
      }),
    },
    "one-boundary": {
      create: (context) => ({
        TryStatement(node) {
          // Cleaning up is no answer.
          if (node.handler === null) return;
          if (!isAllowed(context.filename, ["routes/"])) return;
          if (isAllowed(context.filename, ["routes/console/browser/"])) return;
          if (
            isAllowed(context.filename, [
              "routes/middleware/error_boundary.ts",
              // Hands each failure to the error boundary.
              "routes/composed_router.ts",
              "routes/mcp/failure_boundary.ts",
            ])
          ) return;
          context.report({ node, message: "Let it throw; the error boundary answers" });
        },
      }),
    },
  },
};

export default plugin;

function report(
  context: Deno.lint.RuleContext,
  node: Deno.lint.Node,
  access: { readonly object: string | null; readonly member: string | null },
): void {
  for (const row of forbidden) {
    if (access.object !== row.object || access.member !== row.member) continue;
    if (!isAllowed(context.filename, row.allowed)) context.report({ node, message: row.message });
  }
}

/** `Deno` for `Deno` and for `globalThis.Deno`. */
function globalName(node: Deno.lint.Node): string | null {
  if (node.type === "Identifier") return node.name;
  if (node.type !== "MemberExpression" || node.object.type !== "Identifier") return null;
  return node.object.name === "globalThis" ? memberName(node) : null;
}

/** Empty for a callee without a name. */
function calleeName(call: Deno.lint.CallExpression): string {
  if (call.callee.type === "Identifier") return call.callee.name;
  return call.callee.type === "MemberExpression" ? memberName(call.callee) ?? "" : "";
}

function memberName(node: Deno.lint.MemberExpression): string | null {
  if (!node.computed && node.property.type === "Identifier") return node.property.name;
  if (node.property.type === "Literal" && typeof node.property.value === "string") return node.property.value;
  return null;
}

/** Typed arrays have a `set` too; their literals start with a number. */
function isKeyLiteral(node: Deno.lint.Node): boolean {
  if (node.type !== "ArrayExpression") return false;
  const [first] = node.elements;
  return !(first?.type === "Literal" && typeof first.value === "number");
}

/** `["a"]`, `[["a"]]`, `{ prefix: ["a"] }` and `{ key: ["a"], versionstamp: null }` do. */
function holdsKeyLiteral(node: Deno.lint.Node): boolean {
  if (node.type === "ArrayExpression") return isKeyLiteral(node);
  if (node.type !== "ObjectExpression") return false;
  return node.properties.some((property) =>
    property.type === "Property" && property.key.type === "Identifier" &&
    keyProperties.has(property.key.name) && isKeyLiteral(property.value)
  );
}

/** `Deno.KvKey`, or `Key<…>` of lib/store/keys.ts. */
function isKeyType(node: Deno.lint.Node | undefined): boolean {
  if (node?.type !== "TSTypeReference") return false;
  const name = node.typeName;
  if (name.type === "Identifier") return name.name === "Key";
  return name.type === "TSQualifiedName" && name.right.name === "KvKey";
}

/** `allowed` are files and folders of the repository, wherever it lies. */
function isAllowed(filename: string, allowed: readonly string[]): boolean {
  const path = repositoryPath(filename);
  return allowed.some((place) => place.endsWith("/") ? path.startsWith(place) : path === place);
}

function repositoryPath(filename: string): string {
  const root = decodeURIComponent(new URL("../../", import.meta.url).pathname);
  const path = filename.replaceAll("\\", "/");
  return path.startsWith(root) ? path.slice(root.length) : path;
}
