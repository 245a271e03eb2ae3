// The pages of the documentation in reading order. Each is a Markdown file, loaded when somebody first asks for it:
// as a module, so that a process without permission to read files (Deno Deploy) has them too.
import type { DocGroup, DocPage } from "./doc_page.ts";

/** In the order of the contents: the next page of one is the one behind it. */
export const docPages: readonly DocPage[] = [
  {
    ...at("Start", "readme", "../../README.md"),
    title: "Start here",
    about: "What it is, how to start it, and five things to try in five minutes.",
    load: () => import("../../README.md", { with: { type: "text" } }),
  },
  {
    ...at("Guides", "first-app"),
    title: "An app in fifteen minutes",
    about: "A booking app with accounts, search, captcha and a typed client, from an empty folder.",
    load: () => import("./first-app.md", { with: { type: "text" } }),
  },
  {
    ...at("Guides", "tenants"),
    title: "An app of many tenants",
    about: "A database for each customer: made, migrated, published, counted and exported by script.",
    load: () => import("./tenants.md", { with: { type: "text" } }),
  },
  {
    ...at("Guides", "agents"),
    title: "For agents",
    about: "Let an agent write without fear: previews, limits, proposals, rules and handed-off tokens.",
    load: () => import("./agents.md", { with: { type: "text" } }),
  },
  {
    ...at("Guides", "mcp"),
    title: "Agents by MCP",
    about: "Connect Claude, Cursor, VS Code and any other client of the Model Context Protocol.",
    load: () => import("./mcp.md", { with: { type: "text" } }),
  },
  {
    ...at("Guides", "apps"),
    title: "For apps",
    about: "Run SQL over HTTP from an app: queries, batches, exact values and calls that run once.",
    load: () => import("./apps.md", { with: { type: "text" } }),
  },
  {
    ...at("Guides", "libsql"),
    title: "libSQL clients",
    about: "Connect what speaks to Turso or sqld: @libsql/client, Drizzle, Kysely and others.",
    load: () => import("./libsql.md", { with: { type: "text" } }),
  },
  {
    ...at("Guides", "endpoints"),
    title: "Published endpoints",
    about: "Give strangers one statement instead of a database: inputs, sessions, sign-up and limits.",
    load: () => import("./endpoints.md", { with: { type: "text" } }),
  },
  {
    ...at("Guides", "accounts"),
    title: "Accounts of an app",
    about: "Sign-up, log-in, forgotten passwords and verified addresses, without a server of one's own.",
    load: () => import("./accounts.md", { with: { type: "text" } }),
  },
  {
    ...at("Guides", "changes"),
    title: "Following changes",
    about: "Be told what changes in a database: by polls, by streams, in a page.",
    load: () => import("./changes.md", { with: { type: "text" } }),
  },
  {
    ...at("Guides", "ask"),
    title: "Ask in words",
    about: "Let people ask in plain English: what is understood, what refused, and how often it is right.",
    load: () => import("./ask.md", { with: { type: "text" } }),
  },
  {
    ...at("Guides", "webhooks"),
    title: "Webhooks",
    about: "Have the service call you: signed messages in order, sent again until they arrive.",
    load: () => import("./webhooks.md", { with: { type: "text" } }),
  },
  {
    ...at("Guides", "branches"),
    title: "Branches",
    about: "Work on a copy of a database, compare it and merge it.",
    load: () => import("./branches.md", { with: { type: "text" } }),
  },
  {
    ...at("Guides", "approvals"),
    title: "Approvals",
    about: "Have a person decide about a write before it runs.",
    load: () => import("./approvals.md", { with: { type: "text" } }),
  },
  {
    ...at("Guides", "console"),
    title: "The console",
    about: "Where people see, ask, decide and publish, and how its pages are made.",
    load: () => import("./console.md", { with: { type: "text" } }),
  },
  {
    ...at("Guides", "migrations"),
    title: "Migrations",
    about: "Apply files of drizzle-kit, prisma, dbmate, wrangler, supabase: once, whole, no rows lost.",
    load: () => import("./migrations.md", { with: { type: "text" } }),
  },
  {
    ...at("Guides", "snapshots"),
    title: "Snapshots and undo",
    about: "What is kept before a destructive statement, and how to go back.",
    load: () => import("./snapshots.md", { with: { type: "text" } }),
  },
  {
    ...at("Guides", "backup"),
    title: "Backup of the control plane",
    about: "Back up namespaces, tokens and money, check it, restore it, start anew on another machine.",
    load: () => import("./backup.md", { with: { type: "text" } }),
  },
  {
    ...at("Guides", "archive"),
    title: "The archive",
    about: "Databases kept off the machine, and brought back as they were at any moment.",
    load: () => import("./archive.md", { with: { type: "text" } }),
  },
  {
    ...at("Guides", "export-import"),
    title: "Export and import",
    about: "Take a database along, whole and exact, or one table of it; bring one in.",
    load: () => import("./export-import.md", { with: { type: "text" } }),
  },
  {
    ...at("Guides", "money"),
    title: "Money",
    about: "What calls cost and how a prepaid balance is kept.",
    load: () => import("./money.md", { with: { type: "text" } }),
  },
  {
    ...at("Guides", "self-hosting"),
    title: "Self-hosting",
    about: "Run the service on one machine, or as several instances.",
    load: () => import("./self-hosting.md", { with: { type: "text" } }),
  },
  {
    ...at("Guides", "deno-deploy"),
    title: "Deno Deploy with Turso",
    about: "Run the service without a machine of your own.",
    load: () => import("./deno-deploy.md", { with: { type: "text" } }),
  },
  {
    ...at("Guides", "security"),
    title: "Security",
    about: "How statements, tenants and strangers are kept apart, and the tests that show it.",
    load: () => import("./security.md", { with: { type: "text" } }),
  },
  {
    ...at("Guides", "speed"),
    title: "Speed",
    about: "What was measured, and how to measure it again.",
    load: () => import("./speed.md", { with: { type: "text" } }),
  },
  {
    ...at("Reference", "http-api"),
    title: "The HTTP API",
    about: "Every call, who may make it, and its rules.",
    load: () => import("./http-api.md", { with: { type: "text" } }),
  },
  {
    ...at("Reference", "headers"),
    title: "Headers",
    about: "What headers of requests ask for and what headers of answers say.",
    load: () => import("./headers.md", { with: { type: "text" } }),
  },
  {
    ...at("Reference", "errors"),
    title: "Errors",
    about: "What a failed call answers, and every code.",
    load: () => import("./errors.md", { with: { type: "text" } }),
  },
  {
    ...at("Reference", "limits"),
    title: "Limits",
    about: "The bounds of requests, results, names and lifetimes.",
    load: () => import("./limits.md", { with: { type: "text" } }),
  },
  {
    ...at("Reference", "configuration"),
    title: "Configuration",
    about: "Every setting of the service.",
    load: () => import("./configuration.md", { with: { type: "text" } }),
  },
  {
    ...at("Design", "how-it-works"),
    title: "How it works",
    about: "What happens inside, and what happens when a process ends.",
    load: () => import("./how-it-works.md", { with: { type: "text" } }),
  },
  {
    ...at("Design", "stores"),
    title: "Where tenants live",
    about: "Files, sqld or Turso: what differs and what happens when an answer is lost.",
    load: () => import("./stores.md", { with: { type: "text" } }),
  },
  {
    ...at("Design", "why"),
    title: "Why these choices",
    about: "The decisions behind the design, and their reasons.",
    load: () => import("./why.md", { with: { type: "text" } }),
  },
  {
    ...at("Design", "speed-findings"),
    title: "What made it fast, and what did not",
    about: "Measured reasons for how it is built, and trials that are not worth repeating.",
    load: () => import("./speed-findings.md", { with: { type: "text" } }),
  },
  {
    ...at("Design", "development"),
    title: "Development",
    about: "What the tests hold, where they stand, and where a change begins.",
    load: () => import("./development.md", { with: { type: "text" } }),
  },
  {
    ...at("Design", "formats"),
    title: "Formats on disk",
    about: "What stands in which file, table and record.",
    load: () => import("./formats.md", { with: { type: "text" } }),
  },
  {
    ...at("Design", "glossary"),
    title: "Glossary",
    about: "One word, one meaning.",
    load: () => import("./glossary.md", { with: { type: "text" } }),
  },
];

function at(group: DocGroup, slug: string, file = `${slug}.md`): Pick<DocPage, "group" | "slug" | "file"> {
  return { group, slug, file };
}

/** The page at `/docs/<slug>`. */
export function findPage(slug: string): DocPage | undefined {
  return docPages.find((page) => page.slug === slug);
}
