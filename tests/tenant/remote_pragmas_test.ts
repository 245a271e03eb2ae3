// PRAGMAs of the read list at an sqld that takes tokens, which lets no reading token run most of them.
import { assertEquals } from "@std/assert";
import { exportPKCS8, exportSPKI, generateKeyPair } from "jose";
import { pragmaTable } from "../../lib/sql/grammar/pragmas.ts";
import { ask, withSqld } from "./sqld_world.ts";
import { Tenant } from "../contracts/tenant_store.ts";

const SCHEMA = [
  'CREATE TABLE p (id INTEGER PRIMARY KEY, "it\'s" TEXT)',
  "CREATE TABLE c (a REFERENCES p, b UNIQUE)",
  "CREATE INDEX by_a ON c (a DESC)",
  "PRAGMA user_version = 7",
];
const NAMES = ["c", "by_a", "sqlite_autoindex_c_1", "none"];

Deno.test("with tokens every PRAGMA of the read list answers a reader as the engine itself does", async () => {
  const pair = await generateKeyPair("EdDSA", { extractable: true });
  const key = await exportSPKI(pair.publicKey);
  const jwtKeyPem = await exportPKCS8(pair.privateKey);
  await withSqld(
    async (world) => {
      const tenant = await Tenant.create(world.store({ jwtKeyPem }), SCHEMA);
      for (const [name, { argument }] of pragmaTable) {
        const texts = [
          `PRAGMA ${name}`,
          `pragma main.${name} -- and so on`,
          ...(argument === "none"
            ? []
            : NAMES.flatMap((one) => [`PRAGMA ${name}(${one})`, `PRAGMA ${name}='${one}'`])),
          ...(argument === "count" ? [`PRAGMA ${name}(1)`] : []),
        ];
        for (const sql of texts) {
          const read = await ask(tenant.database, "read", sql);
          // Whoever may write has another token, and the engine runs the text as it stands.
          const written = await ask(tenant.database, "write", sql);
          const json = [read, written].map((outcome) =>
            outcome.ok === true ? outcome.results[0]?.json : outcome
          );
          assertEquals(json[0], json[1], sql);
        }
      }
    },
    [],
    { SQLD_AUTH_JWT_KEY: key },
  );
});
