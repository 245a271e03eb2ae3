// House rules that the linter does not know. The linter loads this file by its default export.

interface ForbiddenCall {
  /** Object and member as written. */
  readonly object: string;
  readonly member: string;
  /** Files (path ends) and folders (path parts) that may. */
  readonly allowed: readonly string[];
  readonly message: string;
}

const CLOCK = "Take a `Clock` by argument; only lib/core/clock.ts reads the machine's clock";

/** One row a member access that belongs to one place. */
const forbidden: readonly ForbiddenCall[] = [
  {
    object: "Deno",
    member: "env",
    allowed: ["/lib/config.ts", "/tests/"],
    message: "Read settings from `Config`; only lib/config.ts reads the environment",
  },
  {
    object: "Deno",
    member: "openKv",
    allowed: ["/main.ts", "/tests/"],
    message: "Take the `Deno.Kv` by argument; only main.ts opens it",
  },
  { object: "Date", member: "now", allowed: ["/lib/core/clock.ts", "/tests/"], message: CLOCK },
  { object: "performance", member: "now", allowed: ["/lib/core/clock.ts", "/tests/"], message: CLOCK },
];

const plugin: Deno.lint.Plugin = {
  name: "house",
  rules: {
    "one-place": {
      create: (context) => ({
        MemberExpression(node) {
          if (node.object.type !== "Identifier") return;
          const member = memberName(node);
          for (const row of forbidden) {
            if (node.object.name !== row.object || member !== row.member) continue;
            if (!isAllowed(context.filename, row.allowed)) context.report({ node, message: row.message });
          }
        },
        NewExpression(node) {
          if (node.callee.type !== "Identifier" || node.callee.name !== "Date") return;
          if (node.arguments.length > 0 || isAllowed(context.filename, ["/lib/core/clock.ts", "/tests/"])) {
            return;
          }
          context.report({ node, message: CLOCK });
        },
      }),
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
          if (isAllowed(context.filename, ["/tests/lint/house.ts"])) return;
          context.report({ node, message: "Export by name, the same as the file's" });
        },
      }),
    },
    "one-boundary": {
      create: (context) => ({
        TryStatement(node) {
          if (!context.filename.includes("/routes/")) return;
          if (isAllowed(context.filename, ["/routes/middleware/error_boundary.ts"])) return;
          context.report({ node, message: "Let it throw; the error boundary answers" });
        },
      }),
    },
  },
};

export default plugin;

function memberName(node: Deno.lint.MemberExpression): string | null {
  if (!node.computed && node.property.type === "Identifier") return node.property.name;
  if (node.property.type === "Literal" && typeof node.property.value === "string") return node.property.value;
  return null;
}

function isAllowed(filename: string, allowed: readonly string[]): boolean {
  const path = filename.replaceAll("\\", "/");
  return allowed.some((place) => place.endsWith("/") ? path.includes(place) : path.endsWith(place));
}
