import { assertEquals } from "@std/assert";
import type { TokenCaller } from "../../lib/access/caller.ts";
import { resolveTarget, type Target } from "../../lib/access/resolve_target.ts";
import { AppError } from "../../lib/core/errors.ts";
import type { Role } from "../../lib/core/role.ts";
import type { BranchRecord, NamespaceRecord, ScopeRow } from "../../lib/store/records.ts";
import { type ControlWorld, controlWorld } from "../testing/control_world.ts";

function caller({ id, slug }: NamespaceRecord, role: Role, scopes: readonly ScopeRow[] = []): TokenCaller {
  return {
    ...{ kind: "token", tokenId: "tok_x", name: "x", namespaceId: id, namespaceSlug: slug },
    ...{ role, scopes, expiresAt: null },
  };
}

/** The target, or the code of the refusal. */
async function resolve(world: ControlWorld, who: TokenCaller, path: string): Promise<Target | string> {
  const [namespaceSlug = "", databasePath = ""] = path.split("/");
  try {
    return await resolveTarget(world, who, { namespaceSlug, databasePath });
  } catch (error) {
    if (error instanceof AppError) return error.code;
    throw error;
  }
}

async function roleAt(world: ControlWorld, who: TokenCaller, path: string): Promise<string> {
  const target = await resolve(world, who, path);
  return typeof target === "string" ? target : target.role;
}

Deno.test("resolveTarget() finds the trunk by slug and by slug@main", async () => {
  using world = await controlWorld();
  const namespace = await world.namespace("acme");
  const database = await world.database(namespace.id, "orders");
  for (const path of ["acme/orders", "acme/orders@main"]) {
    assertEquals(await resolve(world, caller(namespace, "write"), path), {
      ...{ databaseId: database.id, namespaceId: namespace.id, namespaceSlug: "acme" },
      ...{ databaseSlug: "orders", branchRef: "main", role: "write" },
    });
  }
});

Deno.test("resolveTarget() refuses another namespace before it looks for the database", async () => {
  using world = await controlWorld();
  const acme = await world.namespace("acme");
  const other = await world.namespace("other");
  await world.database(other.id, "orders");
  for (const path of ["other/orders", "other/nowhere", "nowhere/orders", "/orders", "ACME/orders"]) {
    assertEquals(await resolve(world, caller(acme, "admin"), path), "namespace_mismatch", path);
  }
});

Deno.test("resolveTarget() answers database_not_found or branch_not_found for what is not there and what cannot be an address", async () => {
  using world = await controlWorld();
  const namespace = await world.namespace("acme");
  await world.database(namespace.id, "orders");
  const who = caller(namespace, "admin");
  for (
    const name of [
      "nowhere",
      "orders@",
      "orders@main@main",
      "@main",
      "",
      "Orders",
      "orders\0",
      "..",
    ]
  ) {
    assertEquals(await resolve(world, who, `acme/${name}`), "database_not_found", name);
  }
  assertEquals(await resolve(world, who, "acme/orders@pr-1"), "branch_not_found");
});

Deno.test("resolveTarget() gives the lower of the token's role and the highest row's", async () => {
  using world = await controlWorld();
  const namespace = await world.namespace("acme");
  const database = await world.database(namespace.id, "orders");
  const row = (role: Role): ScopeRow => ({ databaseId: database.id, branchRef: "main", role });
  const roles: readonly (readonly [Role, readonly Role[], Role])[] = [
    ["admin", ["read"], "read"],
    ["read", ["admin"], "read"],
    ["write", ["admin"], "write"],
    ["admin", ["read", "write"], "write"],
    ["admin", ["admin", "read"], "admin"],
  ];
  for (const [token, rows, expected] of roles) {
    assertEquals(await roleAt(world, caller(namespace, token, rows.map(row)), "acme/orders"), expected);
  }
});

Deno.test("resolveTarget() keeps a scoped token out of databases and branches that no row lists", async () => {
  using world = await controlWorld();
  const namespace = await world.namespace("acme");
  const orders = await world.database(namespace.id, "orders");
  await world.database(namespace.id, "stock");
  const scoped = caller(namespace, "admin", [{ databaseId: orders.id, branchRef: "main", role: "admin" }]);
  assertEquals(await roleAt(world, scoped, "acme/stock"), "out_of_scope");
  assertEquals(await roleAt(world, scoped, "acme/nowhere"), "database_not_found");
  const branch = caller(namespace, "admin", [{ databaseId: orders.id, branchRef: "pr-1", role: "admin" }]);
  assertEquals(await roleAt(world, branch, "acme/orders"), "out_of_scope");
});

Deno.test("resolveTarget() answers without waiting once the record is kept", async () => {
  using world = await controlWorld();
  const namespace = await world.namespace("acme");
  await world.database(namespace.id, "orders");
  const path = { namespaceSlug: "acme", databasePath: "orders" };
  await resolveTarget(world, caller(namespace, "read"), path);
  assertEquals(resolveTarget(world, caller(namespace, "read"), path) instanceof Promise, false);
});

Deno.test("a plain slug means a branch only for a token that reaches no other one; who claimed it has its trunk's admin role", async () => {
  using world = await controlWorld();
  const namespace = await world.namespace("acme");
  const trunk = await world.database(namespace.id, "orders");
  const branch: BranchRecord = {
    ...{ id: "db_branch", namespaceId: namespace.id, trunkId: trunk.id, ref: "pr-1", purpose: "a test" },
    ...{ role: "write", createdAt: 0, copiedAt: 0, expiresAt: Infinity, tokenId: null, claimedBy: "tok_x" },
  };
  const branches = { byRef: () => branch };
  const control: ControlWorld["control"] = Object.create(world.control, { branches: { value: branches } });
  const at = (who: TokenCaller, path: string) => roleAt({ ...world, control }, who, path);
  const row = (databaseId: string, branchRef: string, role: Role = "write") => ({
    databaseId,
    branchRef,
    role,
  });
  const own = row(branch.id, "pr-1");
  const one = caller(namespace, "admin", [own, own]);
  const two = caller(namespace, "admin", [own, row("db_other", "pr-2")]);
  assertEquals([await at(one, "acme/orders"), await at(one, "acme/orders@pr-1")], ["write", "write"]);
  assertEquals([await at(two, "acme/orders"), await at(two, "acme/orders@pr-1")], ["out_of_scope", "write"]);
  for (const [role, reached] of [["admin", "admin"], ["write", "out_of_scope"]] as const) {
    assertEquals(
      await at(caller(namespace, "admin", [row(trunk.id, "main", role)]), "acme/orders@pr-1"),
      reached,
    );
  }
});
