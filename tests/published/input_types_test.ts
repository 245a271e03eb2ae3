// Input types beyond text and numbers: one form in the database whatever was sent, and an issue of the field otherwise.
import { assertEquals, assertStringIncludes } from "@std/assert";
import { Ajv2020 } from "ajv/2020";
import type { FieldSpec } from "../../lib/core/endpoint_spec.ts";
import { MAX_PUBLISHED_BODY_BYTES } from "../../lib/core/limits.ts";
import { pause } from "../../lib/core/pause.ts";
import { issuePaths, type PublishedApp, publishedApp } from "./publish.ts";
import { oneStore } from "../testing/cases.ts";

const { run, test } = oneStore();
Deno.test("types of inputs", run);

/** An endpoint that answers its only input, and the type that the engine gave it. */
async function echo(world: PublishedApp, method: "GET" | "POST", field: Partial<FieldSpec>): Promise<void> {
  const input: FieldSpec[] = [{ name: "v", type: "text", ...field }];
  await world.put({ slug: "echo", method, sql: "SELECT :v AS v, typeof(:v) AS t", input });
}

const good: readonly (readonly [type: FieldSpec["type"], sent: unknown, bound: unknown])[] = [
  ["date", "2026-11-22", "2026-11-22"],
  ["date", "2024-02-29", "2024-02-29"],
  ["date", "0001-01-01", "0001-01-01"],
  ["datetime", "2026-11-22T16:40:00+01:00", "2026-11-22T15:40:00.000Z"],
  ["datetime", "2026-11-22T15:40:00.1Z", "2026-11-22T15:40:00.100Z"],
  ["datetime", "2026-11-22t15:40z", "2026-11-22T15:40:00.000Z"],
  ["datetime", "2026-12-31T23:30:00-01:00", "2027-01-01T00:30:00.000Z"],
  ["uuid", "2F1F9A5C-8A52-4D4F-9C3E-5D0B1A7C6E21", "2f1f9a5c-8a52-4d4f-9c3e-5d0b1a7c6e21"],
  ["blob", "AAECAw==", { $blob: "AAECAw==" }],
  ["blob", "-_8", { $blob: "+/8=" }],
  ["blob", "", { $blob: "" }],
];
const bad: readonly (readonly [type: FieldSpec["type"], sent: unknown])[] = [
  ...["2026-02-30", "2026-13-01", "2026-1-1", "26-01-01", "2026-01-01T00:00:00Z", ""].map((one) =>
    ["date", one] as const
  ),
  ...["2026-11-22T16:40:00", "2026-11-22", "2026-02-30T00:00:00Z", "2026-11-22T24:00:00Z", "now"].map((one) =>
    ["datetime", one] as const
  ),
  ["datetime", "0000-01-01T00:00:00+01:00"],
  ...["2f1f9a5c8a524d4f9c3e5d0b1a7c6e21", "", "2f1f9a5c-8a52-4d4f-9c3e-5d0b1a7c6e2g"].map((one) =>
    ["uuid", one] as const
  ),
  ...["A", "AA=A", "A A=", "é"].map((one) => ["blob", one] as const),
];

test("dates, times, UUIDs and bytes have one form in the database, from a query and from a body", async () => {
  await using world = await publishedApp();
  for (const method of ["GET", "POST"] as const) {
    const call = (sent: unknown) =>
      method === "POST"
        ? world.call("echo", { body: { v: sent } })
        : world.call(`echo?v=${encodeURIComponent(String(sent))}`);
    for (const [type, sent, bound] of good) {
      await echo(world, method, { type });
      const row = [bound, type === "blob" ? "blob" : "text"];
      assertEquals(JSON.parse((await call(sent)).text).rows, [row], `${method} ${type} ${sent}`);
    }
    for (const [type, sent] of bad) {
      await echo(world, method, { type });
      assertEquals(issuePaths(await call(sent)), ["v"], `${method} ${type} ${sent}`);
    }
  }
  await echo(world, "POST", { type: "blob" });
  const again = await world.call("echo", { body: { v: { $blob: "+/8=" } } });
  assertEquals(JSON.parse(again.text).rows, [[{ $blob: "+/8=" }, "blob"]]);
  assertEquals(issuePaths(await world.call("echo", { body: { v: 1 } })), ["v"]);
});

test("lengths have a lower bound, ends are trimmed first, and messages name the way out", async () => {
  await using world = await publishedApp();
  const message = async (field: Partial<FieldSpec>, v: unknown) => {
    await echo(world, "POST", field);
    const { status, text, body } = await world.call("echo", { body: { v } });
    return status === 200 ? JSON.parse(text).rows[0][0] : body.issues?.[0]?.message;
  };
  const short = { minLength: 2, maxLength: 3 } as const;
  assertEquals(await message(short, "😀"), "Send at least 2 characters");
  assertEquals(await message(short, "😀😀"), "😀😀");
  assertEquals(await message(short, "abcd"), "Send at most 3 characters");
  assertEquals(await message({ ...short, trim: true }, "  a "), "Send at least 2 characters");
  assertEquals(await message({ ...short, trim: true }, "\n abc\t"), "abc");
  assertEquals(await message({ type: "email", trim: true }, " ada@shop.example "), "ada@shop.example");
  assertEquals(await message({ ...short, type: "blob" }, "AA=="), "Send at least 2 bytes");
  assertEquals(await message({ ...short, type: "blob" }, "AAAAAA=="), "Send at most 3 bytes");
  assertEquals(await message({ enum: ["red", "blue"] }, "green"), "Send one of red, blue");
  assertEquals(await message({ pattern: "^[a-z]+$" }, "A"), "Send text that matches the pattern ^[a-z]+$");
});

test("a picture that keeps coming may take longer than other bodies, one that trickles may not", async () => {
  await using world = await publishedApp();
  const { bodyWatch } = world.app.deps;
  await world.put({
    slug: "upload",
    method: "POST",
    sql: "SELECT length(?)",
    input: [{ name: "picture", type: "blob", required: true }],
  });
  for (const [pieceBytes, expected] of [[20_000, 200], [2000, 408]] as const) {
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const writer = writable.getWriter();
    const send = () => void writer.write(new Uint8Array(pieceBytes));
    send();
    const answering = world.call("upload", { body: readable, headers: { "content-type": "image/png" } });
    while (bodyWatch.pending === 0) await pause(1);
    for (let sweep = 0; sweep < 5 && bodyWatch.pending > 0; sweep++) {
      send();
      await pause(5);
      bodyWatch.sweep();
    }
    void writer.close();
    const { status, text } = await answering;
    assertEquals(status, expected, text);
    if (status === 200) assertEquals(JSON.parse(text).rows, [[6 * pieceBytes]]);
  }
});

test("a blob that is all a caller sends may be the body itself, whatever its bytes are", async () => {
  await using world = await publishedApp();
  await echo(world, "POST", { type: "blob", required: true, maxLength: 1000 });
  const send = (body: unknown, type?: string) =>
    world.call("echo", { body, headers: type === undefined ? {} : { "content-type": type } });
  const bytes = new Uint8Array([0xff, 0xfe, 0, 0x7b, 0xc3]);
  for (const type of ["image/png", "application/octet-stream", "video/mp4; codecs=avc1"]) {
    assertEquals(
      JSON.parse((await send(bytes, type)).text).rows,
      [[{ $blob: bytes.toBase64() }, "blob"]],
      type,
    );
  }
  for (const type of ["application/json", "application/x-www-form-urlencoded", "text/plain; charset=utf-8"]) {
    assertEquals(
      JSON.parse((await send({ v: "AA==" }, type)).text).rows,
      [[{ $blob: "AA==" }, "blob"]],
      type,
    );
    assertEquals((await send(bytes, type)).body.code, "invalid_json", type);
  }
  // A form is more than the file in it: what its sender means would be stored with its boundaries.
  const form = '--b\r\nContent-Disposition: form-data; name="v"; filename="v.png"\r\n\r\nGIF89a\r\n--b--\r\n';
  const wrapped = await send(form, "multipart/form-data; boundary=b");
  assertEquals([wrapped.status, wrapped.body.code], [400, "invalid_json"], wrapped.text);
  assertEquals(wrapped.body.error, "Send the file itself as the body, or a JSON object, not a form");
  assertEquals(issuePaths(await send(new Uint8Array(1001), "image/png")), ["v"]);
  assertEquals(issuePaths(await send(new Uint8Array(), "image/png")), ["v"]);
  const large = new Uint8Array(MAX_PUBLISHED_BODY_BYTES + 1);
  const { code, error } = (await send(large, "image/png")).body;
  assertEquals([code, error], [
    "payload_too_large",
    "Send a smaller body; at most 1,048,576 bytes are taken here",
  ]);
  await world.put({
    slug: "echo",
    method: "POST",
    sql: "SELECT ?, ?",
    input: [{ name: "v", type: "blob" }, { name: "w", type: "text" }],
  });
  assertEquals((await send(bytes, "image/png")).body.code, "invalid_json");
  const fields = await send(form, "multipart/form-data; boundary=b");
  assertEquals(fields.body.error, "Send the fields as one JSON object, not in a form", fields.text);
});

test("the description of an endpoint and its client say what the types take", async () => {
  await using world = await publishedApp();
  await world.put({
    slug: "all",
    method: "POST",
    sql: "SELECT ?, ?, ?, ?",
    input: [
      { name: "day", type: "date", required: true },
      { name: "at", type: "datetime", required: true },
      { name: "key", type: "uuid", required: true },
      { name: "bytes", type: "blob", required: true },
    ],
  });
  const { paths } = JSON.parse((await world.call("openapi.json")).text);
  const { schema, example } = paths["/all"].post.requestBody.content["application/json"];
  assertEquals(
    ["day", "at", "key"].map((name) => schema.properties[name].format),
    ["date", "date-time", "uuid"],
  );
  // Some generators of clients fail at a property of several types of which one is an object.
  const forms: Record<string, unknown>[] = schema.properties.bytes.anyOf;
  assertEquals(forms.map(({ type, contentEncoding }) => [type, contentEncoding]), [
    ["string", "base64"],
    ["object", undefined],
  ]);
  assertEquals((await world.call("all", { body: example })).status, 200);
  const takes = new Ajv2020({ strict: false, validateFormats: false }).compile(schema);
  for (
    const [bytes, status] of [["aGk=", 200], [{ $blob: "aGk=" }, 200], [{ blob: "aGk=" }, 400], [1, 400]]
  ) {
    const body = { ...example, bytes };
    assertEquals([(await world.call("all", { body })).status, takes(body)], [status, status === 200]);
  }
  const client = (await world.call("client.ts")).text;
  for (const member of ["day: string;", "at: string;", "key: string;", "bytes: Bytes | { $blob: string };"]) {
    assertStringIncludes(client, member);
  }
});
