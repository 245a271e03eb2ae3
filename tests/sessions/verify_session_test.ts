// verifySession() takes what mintSession() makes and nothing that resembles it.
import { assertEquals } from "@std/assert";
import { type JWTPayload, SignJWT, UnsecuredJWT } from "jose";
import { mintSession } from "../../lib/access/mint_session.ts";
import { verifySession } from "../../lib/access/verify_session.ts";
import type { SessionDatabase } from "../../lib/control/session_keys.ts";
import { newId } from "../../lib/core/ids.ts";
import { keys } from "../../lib/store/keys.ts";
import { type ControlWorld, controlWorld } from "../testing/control_world.ts";

interface World extends ControlWorld {
  /** The database `main`. */
  readonly trunk: SessionDatabase;
  readonly secret: Uint8Array;
  /** Signs as the service would; `null` leaves a claim out. */
  sign(claims: Record<string, unknown>, header?: { alg: string }): Promise<string>;
  verdict(jwt: string, database?: SessionDatabase): Promise<string>;
}

async function world(): Promise<World> {
  const made = await controlWorld();
  const { id: namespaceId } = await made.namespace();
  const trunk = { namespaceId, databaseId: (await made.database(namespaceId)).id };
  const { sessionKeys } = made.control;
  const key = await sessionKeys.demand(trunk);
  if (key === null) throw new Error("no key");
  const nowSec = Math.floor(made.clock.now() / 1000);
  return {
    ...made,
    ...{ trunk, secret: key.secret },
    sign: (more, header = { alg: "HS256" }) => {
      const claims = { sub: "7", aud: trunk.databaseId, iat: nowSec, exp: nowSec + 60, ...more };
      const kept = Object.fromEntries(Object.entries(claims).filter(([, value]) => value !== null));
      return new SignJWT(kept as JWTPayload).setProtectedHeader(header).sign(
        header.alg === "HS256" ? key.secret : new Uint8Array(64).fill(1),
      );
    },
    verdict: async (jwt, of = trunk) => {
      const checked = await verifySession({ sessionKeys, clock: made.clock }, of, jwt);
      return checked.ok ? "ok" : checked.reason;
    },
  };
}

Deno.test("a session with the right claims and the right key is taken, with or without email", async () => {
  using at = await world();
  assertEquals(await at.verdict(await at.sign({})), "ok");
  assertEquals(await at.verdict(await at.sign({ email: "a@example.com" })), "ok");
});

Deno.test("another algorithm, none at all, another key and a changed character are refused", async () => {
  using at = await world();
  const good = await at.sign({});
  const [header = "", payload = "", signature = ""] = good.split(".");
  const none = new UnsecuredJWT({ sub: "7" }).setAudience(at.trunk.databaseId).setIssuedAt(1)
    .setExpirationTime(4_000_000_000).encode();
  const encode = (value: unknown) =>
    new TextEncoder().encode(JSON.stringify(value)).toBase64({ alphabet: "base64url", omitPadding: true });
  const otherKey = await new SignJWT({ sub: "7", aud: at.trunk.databaseId, iat: 1, exp: 4_000_000_000 })
    .setProtectedHeader({ alg: "HS256" }).sign(new Uint8Array(32));
  const cases = [
    [await at.sign({}, { alg: "HS512" }), "malformed"],
    [none, "malformed"],
    [`${encode({ alg: "none" })}.${payload}.`, "malformed"],
    [`${encode({ alg: "RS256" })}.${payload}.${signature}`, "malformed"],
    [otherKey, "wrong_key"],
    [
      `${header}.${encode({ sub: "1", aud: at.trunk.databaseId, exp: 4e9, iat: 1 })}.${signature}`,
      "wrong_key",
    ],
    [`${header}.${payload}.${signature.startsWith("A") ? "B" : "A"}${signature.slice(1)}`, "wrong_key"],
    [`${header}.${payload}`, "malformed"],
    [`${good}.x`, "malformed"],
    [`${good}=`, "malformed"],
    [`${header}=.${payload}.${signature}`, "malformed"],
    [`${header}.${payload}==.${signature}`, "malformed"],
    [good.replaceAll("-", "+").replaceAll("_", "/") + "+", "malformed"],
    ["", "malformed"],
    ["a b c", "malformed"],
    ["ä.ö.ü", "malformed"],
    [good.replace(/^[^.]+/, "x".repeat(20_000)), "malformed"],
  ] as const;
  for (const [jwt, reason] of cases) assertEquals(await at.verdict(jwt), reason, jwt.slice(0, 200));
});

Deno.test("a claim that is missing or of another type is refused", async () => {
  using at = await world();
  const cases = [
    [{ sub: null }, "malformed"],
    [{ sub: "" }, "malformed"],
    [{ sub: 7 }, "malformed"],
    [{ iat: null }, "malformed"],
    [{ iat: "1" }, "malformed"],
    [{ iat: 1.5 }, "malformed"],
    [{ exp: null }, "malformed"],
    [{ exp: "4000000000" }, "malformed"],
    [{ email: 7 }, "malformed"],
    [{ email: "e".repeat(9000) }, "malformed"],
    [{ gen: "1" }, "malformed"],
    [{ sid: 7 }, "malformed"],
    [{ ep: "1" }, "malformed"],
    [{ pv: 7 }, "malformed"],
    [{ ut: 7 }, "malformed"],
    [{ ut: "users", ue: 7 }, "malformed"],
    [{ auth_time: "1" }, "malformed"],
    [{ aud: null }, "wrong_database"],
    [{ aud: "db_other" }, "wrong_database"],
    [{ exp: 1 }, "expired"],
  ] as const;
  for (const [claims, reason] of cases) {
    assertEquals(await at.verdict(await at.sign(claims)), reason, JSON.stringify(claims));
  }
});

Deno.test("a session ends by the service's clock, and without an id its own text stands for it", async () => {
  using at = await world();
  const ctx = { sessionKeys: at.control.sessionKeys, clock: at.clock };
  const [one, other] = [await at.sign({}), await at.sign({ sub: "8" })];
  const ids: unknown[] = [];
  for (const jwt of [one, other, one]) {
    const checked = await verifySession(ctx, at.trunk, jwt);
    ids.push(checked.ok && checked.claims.sessionId);
  }
  assertEquals([ids[0] === ids[2], ids[0] === ids[1], typeof ids[0]], [true, false, "string"]);
  at.clock.turn(61_000);
  assertEquals(await at.verdict(one), "expired");
});

Deno.test("a session of another database is refused even where the keys are equal", async () => {
  using at = await world();
  const { namespaceId } = at.trunk;
  const twin = await at.database(namespaceId, "twin");
  const sessionSigningKeyB64 = at.secret.toBase64();
  await at.kv.set(keys.database(namespaceId, twin.id), { ...twin, sessionSigningKeyB64 });
  const database = { namespaceId, databaseId: twin.id };
  assertEquals(await at.verdict(await at.sign({}), database), "wrong_database");
  assertEquals(await at.verdict(await at.sign({ aud: twin.id }), database), "ok");
});

Deno.test("a branch shares the key of its database, and a session opens only the one it names", async () => {
  using at = await world();
  const { namespaceId, databaseId: trunkId } = at.trunk;
  const branch = { namespaceId, databaseId: newId("db", at.clock.now()) };
  await at.kv.set(keys.branchById(namespaceId, branch.databaseId), { trunkId, ref: "pr-1" });
  const { sessionKeys } = at.control;
  const jwt = (await mintSession(at.control, branch, { userId: "7", lifetimeSec: 60 }))?.jwt ?? "";
  assertEquals([await at.verdict(jwt, branch), await at.verdict(jwt)], ["ok", "wrong_database"]);
  await sessionKeys.revokeAll(at.trunk);
  assertEquals(await at.verdict(jwt, branch), "revoked");
});

Deno.test("mintSession() makes nothing for a database that is gone", async () => {
  using at = await world();
  const { sessionKeys } = at.control;
  const gone = { namespaceId: at.trunk.namespaceId, databaseId: newId("db", at.clock.now()) };
  assertEquals(await mintSession(at.control, gone, { userId: "7", lifetimeSec: 60 }), null);
  assertEquals(await sessionKeys.revokeAll(gone), null);
});

Deno.test("a session is taken in the one form in which it was written, to the last bit", async () => {
  using at = await world();
  const encode = (text: string) =>
    new TextEncoder().encode(text).toBase64({ alphabet: "base64url", omitPadding: true });
  const key = await crypto.subtle.importKey(
    "raw",
    Uint8Array.from(at.secret),
    { name: "HMAC", hash: "SHA-256" },
    false,
    ["sign"],
  );
  /** Signed with the right key, whatever the texts are. */
  const signed = async (header: string, payload: string) => {
    const text = `${encode(header)}.${encode(payload)}`;
    const mac = new Uint8Array(await crypto.subtle.sign("HMAC", key, new TextEncoder().encode(text)));
    return `${text}.${mac.toBase64({ alphabet: "base64url", omitPadding: true })}`;
  };
  const nowSec = Math.floor(at.clock.now() / 1000);
  const claims = `"sub":"7","aud":"${at.trunk.databaseId}","iat":${nowSec},"exp":${nowSec + 60}`;
  const good = await signed('{"alg":"HS256","typ":"JWT"}', `{${claims}}`);
  assertEquals(await at.verdict(good), "ok");
  // 32 bytes leave two bits of the last character unused, and with them three more spellings.
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const last = alphabet.indexOf(good.at(-1) ?? "");
  for (const bits of [1, 2, 3]) {
    assertEquals(await at.verdict(good.slice(0, -1) + alphabet[last | bits]), "malformed", String(bits));
  }
  const headers = [
    '{"alg":"HS256","crit":["b64"],"b64":true}',
    '{"alg":"HS256","crit":[]}',
    '{"alg":"HS256","typ":"at+jwt"}',
    '{"alg":"HS256","typ":null}',
    '{"alg":"HS256","zip":"DEF"}',
    '{"alg":"HS256","kid":"1"}',
    '{"alg":"none","alg":"HS256"}',
    '{ "alg":"HS256"}',
    '["HS256"]',
    '\ufeff{"alg":"HS256"}',
  ];
  for (const header of headers) {
    assertEquals(await at.verdict(await signed(header, `{${claims}}`)), "malformed", header);
  }
  const payloads = [
    `{"sub":"8",${claims}}`,
    `{${claims} }`,
    `{${claims}}\n`,
    `{${claims},"\\u0061":1}`,
    `{${claims},"ut":1}`,
  ];
  for (const payload of payloads) {
    assertEquals(await at.verdict(await signed('{"alg":"HS256"}', payload)), "malformed", payload);
  }
});
