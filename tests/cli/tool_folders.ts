// Folders of migrations as tools make them, path → text: two files about users with posts, then one that rebuilds the users.
// Those of drizzle-kit 0.31.11 and the head of dbmate 2.36.0 were made by the tools; prisma, whose engine is not among
// its packages, wrangler and supabase are as their documentation shows them.

/** A folder, and the names under which its files are applied. */
export interface ToolFolder {
  readonly tool: string;
  readonly files: Readonly<Record<string, string>>;
  readonly names: readonly string[];
}

const TABLES = `CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT);

-- a post; it goes with its user
CREATE TABLE posts (
  id INTEGER PRIMARY KEY,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE
);
`;
const REBUILD = `PRAGMA defer_foreign_keys=ON;
CREATE TABLE new_users (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
INSERT INTO new_users SELECT id, name FROM users;
DROP TABLE users;
ALTER TABLE new_users RENAME TO users;
PRAGMA defer_foreign_keys=OFF;
`;

const drizzleInit = [
  "CREATE TABLE `posts` (",
  "\t`id` integer PRIMARY KEY NOT NULL,",
  "\t`user_id` integer NOT NULL,",
  "\t`title` text,",
  "\tFOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade",
  ");",
  "--> statement-breakpoint",
  "CREATE TABLE `users` (",
  "\t`id` integer PRIMARY KEY NOT NULL,",
  "\t`name` text",
  ");",
  "",
].join("\n");
const drizzleRebuild = [
  "PRAGMA foreign_keys=OFF;--> statement-breakpoint",
  "CREATE TABLE `__new_users` (",
  "\t`id` integer PRIMARY KEY NOT NULL,",
  "\t`name` text NOT NULL",
  ");",
  "--> statement-breakpoint",
  'INSERT INTO `__new_users`("id", "name") SELECT "id", "name" FROM `users`;--> statement-breakpoint',
  "DROP TABLE `users`;--> statement-breakpoint",
  "ALTER TABLE `__new_users` RENAME TO `users`;--> statement-breakpoint",
  "PRAGMA foreign_keys=ON;--> statement-breakpoint",
  "CREATE INDEX `posts_user` ON `posts` (`user_id`);",
].join("\n");

function journal(...tags: readonly string[]): string {
  const entries = tags.map((tag, idx) => ({
    idx,
    version: "6",
    when: 1795374065162 + idx,
    tag,
    breakpoints: true,
  }));
  return JSON.stringify({ version: "7", dialect: "sqlite", entries }, null, 2);
}

const prismaRebuild = `-- RedefineTables
PRAGMA defer_foreign_keys=ON;
PRAGMA foreign_keys=OFF;
CREATE TABLE "new_users" (
    "id" INTEGER NOT NULL PRIMARY KEY,
    "name" TEXT NOT NULL
);
INSERT INTO "new_users" ("id", "name") SELECT "id", "name" FROM "users";
DROP TABLE "users";
ALTER TABLE "new_users" RENAME TO "users";
PRAGMA foreign_keys=ON;
PRAGMA defer_foreign_keys=OFF;
`;

/** The last file of each rebuilds the users. */
export const toolFolders: readonly ToolFolder[] = [
  {
    tool: "drizzle-kit",
    files: {
      "meta/_journal.json": journal("0000_init", "0001_strict_names"),
      "meta/0000_snapshot.json": "{}",
      "0000_init.sql": drizzleInit,
      "0001_strict_names.sql": drizzleRebuild,
    },
    names: ["0000_init.sql", "0001_strict_names.sql"],
  },
  {
    tool: "drizzle-kit without numbers",
    files: {
      "meta/_journal.json": journal("zebra", "ant"),
      "zebra.sql": drizzleInit,
      "ant.sql": drizzleRebuild,
    },
    names: ["0000_zebra.sql", "0001_ant.sql"],
  },
  {
    tool: "prisma",
    files: {
      "schema.prisma": 'datasource db { provider = "sqlite" }',
      "migrations/migration_lock.toml": 'provider = "sqlite"\n',
      "migrations/20260101120000_init/migration.sql": TABLES,
      "migrations/20260201120000_strict/migration.sql": prismaRebuild,
    },
    names: ["20260101120000_init", "20260201120000_strict"],
  },
  {
    tool: "dbmate",
    files: {
      "schema.sql": "CREATE TABLE not_this (a);",
      "migrations/20260101120000_init.sql":
        `-- migrate:up\n${TABLES}\n-- migrate:down\nDROP TABLE posts;\nDROP TABLE users;\n`,
      "migrations/20260201120000_strict.sql": `-- migrate:up\n${REBUILD}\n-- migrate:down\n\n`,
    },
    names: ["20260101120000_init.sql", "20260201120000_strict.sql"],
  },
  {
    tool: "wrangler",
    files: {
      "0001_init.sql": `-- Migration number: 0001 \t 2026-01-01T12:00:00.000Z\n${TABLES}`,
      "0002_strict.sql": `-- Migration number: 0002 \t 2026-02-01T12:00:00.000Z\r\n${
        REBUILD.replaceAll("\n", "\r\n")
      }`,
    },
    names: ["0001_init.sql", "0002_strict.sql"],
  },
  {
    tool: "supabase",
    files: {
      "config.toml": "",
      "seed.sql": "INSERT INTO users VALUES (1, 'not this');",
      "migrations/20260101120000_init.sql": TABLES,
      "migrations/20260201120000_strict.sql": REBUILD,
    },
    names: ["20260101120000_init.sql", "20260201120000_strict.sql"],
  },
];

/** Writes the files into a new folder, which the caller removes. */
export async function writeFolder(files: ToolFolder["files"]): Promise<string> {
  const folder = await Deno.makeTempDir({ prefix: "cubby_migrations_" });
  for (const [path, text] of Object.entries(files)) {
    await Deno.mkdir(`${folder}/${path.split("/").slice(0, -1).join("/")}`, { recursive: true });
    await Deno.writeTextFile(`${folder}/${path}`, text);
  }
  return folder;
}
