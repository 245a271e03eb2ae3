// A KV server as `denokv` is one: the KV Connect protocol, version 2 (github.com/denoland/denokv, proto/kv-connect.md and
// schema/datapath.proto), over a map in memory. Keys and values stay the bytes that Deno sends; queues and sums are left out.
import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";

export interface KvConnect extends AsyncDisposable {
  readonly url: string;
  /** Commits so far, and exchanges of the access token that were refused. */
  readonly commits: number;
  readonly refusals: number;
  /** While it is set, the first answer to each commit is lost on its way. */
  losesAnswers: boolean;
}

interface Entry {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
  readonly encoding: bigint;
  readonly versionstamp: Uint8Array;
  readonly expiresAtMs: number;
}

const DATABASE_ID = "00000000-0000-0000-0000-000000000000";
/** Of reads and of writes. */
const SUCCESS = 1;
const CHECK_FAILURE = 2;
const DELETE = 2n;

/** On a free loopback port, for whoever has the token. */
export function startKvConnect(accessToken: string): KvConnect {
  const entries = new Map<string, Entry>();
  const counts = { commits: 0, refusals: 0, losesAnswers: false };
  const lost = new Set<string>();
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    const path = new URL(request.url).pathname;
    const body = await request.bytes();
    if (request.headers.get("authorization") !== `Bearer ${accessToken}`) {
      counts.refusals++;
      return new Response("Invalid access token.", { status: 401 });
    }
    if (path === "/") return Response.json(metadata(accessToken));
    if (request.headers.get("x-denokv-database-id") !== DATABASE_ID) {
      return new Response("Invalid database id.", { status: 400 });
    }
    const answer = path === "/v2/snapshot_read"
      ? snapshotRead(entries, body)
      : path === "/v2/atomic_write"
      ? atomicWrite(entries, body, counts)
      : null;
    if (answer === null) return new Response("Resource not found.", { status: 404 });
    const copy = body.toHex();
    if (counts.losesAnswers && path === "/v2/atomic_write" && !lost.has(copy)) {
      lost.add(copy);
      return new Response(null, { status: 502 });
    }
    return new Response(answer.finish(), { headers: { "content-type": "application/x-protobuf" } });
  });
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    get commits() {
      return counts.commits;
    },
    get refusals() {
      return counts.refusals;
    },
    get losesAnswers() {
      return counts.losesAnswers;
    },
    set losesAnswers(loses) {
      counts.losesAnswers = loses;
    },
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

function metadata(token: string) {
  return {
    ...{ version: 2, databaseId: DATABASE_ID, token },
    endpoints: [{ url: "/v2", consistency: "strong" }],
    expiresAt: new Date(Date.now() + 86_400_000).toISOString(),
  };
}

function snapshotRead(entries: ReadonlyMap<string, Entry>, body: Uint8Array): BinaryWriter {
  const output = new BinaryWriter();
  for (const { bytes } of readFields(body)) {
    const range = readFields(bytes);
    const [start, end] = [bytesOf(range, 1).toHex(), bytesOf(range, 2).toHex()];
    // The hexadecimal form sorts as the bytes do.
    const keys = [...entries.keys()].filter((key) => key >= start && key < end).sort();
    if (bitsOf(range, 4) === 1n) keys.reverse();
    const values = new BinaryWriter();
    const found = keys.flatMap((key) => live(entries.get(key)) ?? []).slice(0, Number(bitsOf(range, 3)));
    for (const { key, value, encoding, versionstamp } of found) {
      const entry = data(data(new BinaryWriter(), 1, key), 2, value);
      entry.tag(3, WireType.Varint).uint64(encoding);
      data(values, 1, data(entry, 4, versionstamp).finish());
    }
    data(output, 1, values.finish());
  }
  return number(number(output, 4, 1), 8, SUCCESS);
}

function atomicWrite(
  entries: Map<string, Entry>,
  body: Uint8Array,
  counts: { commits: number },
): BinaryWriter {
  const fields = readFields(body);
  const failed = fields.filter(({ number }) => number === 1).flatMap(({ bytes }, at) => {
    const check = readFields(bytes);
    const known = live(entries.get(bytesOf(check, 1).toHex()))?.versionstamp.toHex() ?? "";
    return known === bytesOf(check, 2).toHex() ? [] : [at];
  });
  if (failed.length > 0) {
    const output = number(new BinaryWriter(), 1, CHECK_FAILURE);
    for (const at of failed) number(output, 4, at);
    return output;
  }
  const versionstamp = new Uint8Array(10);
  new DataView(versionstamp.buffer).setBigUint64(0, BigInt(++counts.commits));
  for (const { bytes } of fields.filter(({ number }) => number === 2)) {
    const mutation = readFields(bytes);
    const key = bytesOf(mutation, 1);
    if (bitsOf(mutation, 3) === DELETE) {
      entries.delete(key.toHex());
      continue;
    }
    const value = readFields(bytesOf(mutation, 2));
    entries.set(key.toHex(), {
      ...{ key, versionstamp, value: bytesOf(value, 1), encoding: bitsOf(value, 2) },
      expiresAtMs: Number(bitsOf(mutation, 4)),
    });
  }
  return data(number(new BinaryWriter(), 1, SUCCESS), 2, versionstamp);
}

function live(entry: Entry | undefined): Entry | null {
  if (entry === undefined) return null;
  return entry.expiresAtMs === 0 || entry.expiresAtMs > Date.now() ? entry : null;
}

function bytesOf(fields: readonly Field[], number: number): Uint8Array {
  return fields.find((field) => field.number === number)?.bytes ?? new Uint8Array();
}

function bitsOf(fields: readonly Field[], number: number): bigint {
  return fields.find((field) => field.number === number)?.bits ?? 0n;
}

/** One field as it was read: a number, or bytes. */
interface Field {
  readonly number: number;
  readonly bits: bigint;
  readonly bytes: Uint8Array;
}

/** All fields of a message in order. */
function readFields(message: Uint8Array): Field[] {
  const reader = new BinaryReader(message);
  const fields: Field[] = [];
  while (reader.pos < reader.len) {
    const [number, type] = reader.tag();
    const isNumber = type === WireType.Varint;
    const bits = isNumber ? BigInt(reader.uint64()) : 0n;
    fields.push({ number, bits, bytes: isNumber ? new Uint8Array() : reader.bytes() });
  }
  return fields;
}

function data(writer: BinaryWriter, field: number, bytes: Uint8Array): BinaryWriter {
  return writer.tag(field, WireType.LengthDelimited).bytes(bytes);
}

function number(writer: BinaryWriter, field: number, value: number): BinaryWriter {
  return writer.tag(field, WireType.Varint).uint32(value);
}
