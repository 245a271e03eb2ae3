// The binary form of Hrana: nothing of a value is lost, and what is cut short is no answer.
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { assertEquals, assertThrows } from "@std/assert";
import { decodeAnswer } from "../../lib/tenant/remote/hrana/hrana_binary.ts";

function part(field: number, ...parts: Uint8Array[]): Uint8Array {
  const writer = new BinaryWriter().tag(field, WireType.LengthDelimited).fork();
  for (const one of parts) writer.raw(one);
  return writer.join().finish();
}

function varint(field: number, write: (writer: BinaryWriter) => void): Uint8Array {
  const writer = new BinaryWriter().tag(field, WireType.Varint);
  write(writer);
  return writer.finish();
}

const text = (field: number, value: string) => part(field, new TextEncoder().encode(value));
const double = (field: number, value: number) =>
  new BinaryWriter().tag(field, WireType.Bit64).double(value).finish();

/** What a server answers to a batch of two steps: rows of one column, and a refusal. */
function answerWith(values: readonly Uint8Array[]): Uint8Array {
  const rows = values.map((value) => part(2, part(1, value)));
  const result = [
    part(1, text(1, "v"), text(2, "INT")),
    ...rows,
    varint(3, (writer) => writer.uint64(2n)),
    varint(4, (writer) => writer.sint64(-5n)),
    varint(6, (writer) => writer.uint64(7n)),
    double(8, 1.5),
  ];
  const entries = [
    part(1, varint(1, (writer) => writer.uint32(0)), part(2, ...result)),
    part(
      2,
      varint(1, (writer) => writer.uint32(1)),
      part(2, text(1, "no such table: t"), text(2, "SQLITE_ERROR")),
    ),
  ];
  const batch = part(3, part(1, part(3, part(1, ...entries))));
  return new Uint8Array([...text(1, "baton"), ...batch, ...part(3, part(1, part(1)))]);
}

Deno.test("values of every kind come out of the binary form as they went in", () => {
  const integer = (value: bigint) => varint(2, (writer) => writer.sint64(value));
  const answer = answerWith([
    ...[0n, -1n, 2n ** 53n + 1n, 2n ** 63n - 1n, -(2n ** 63n)].map(integer),
    ...[0, -0.5, Infinity, -Infinity].map((value) => double(3, value)),
    ...["", "ä😀", "\ufeffmark"].map((value) => text(4, value)),
    part(5, new Uint8Array([0, 255])),
    part(1),
  ]);
  assertEquals(decodeAnswer(answer, 3), {
    baton: "baton",
    steps: [
      {
        ...{
          ok: true,
          columns: ["v"],
          decltypes: ["INT"],
          rowsRead: 7,
          ms: 1.5,
          changes: 2,
          lastRowid: "-5",
        },
        rows: [
          ...["0", "-1", "9007199254740993", "9223372036854775807", "-9223372036854775808"]
            .map((value) => [{ type: "integer" as const, value }]),
          ...[0, -0.5, Infinity, -Infinity].map((value) => [{ type: "float" as const, value }]),
          ...["", "ä😀", "\ufeffmark"].map((value) => [{ type: "text" as const, value }]),
          [{ type: "blob", base64: "AP8=" }],
          [{ type: "null" }],
        ],
      },
      { ok: false, message: "no such table: t", code: "SQLITE_ERROR" },
      null,
    ],
  });
});

Deno.test("an answer that is cut short inside of its result is none", () => {
  const answer = answerWith([text(4, "some text"), double(3, 1)]);
  const whole = answer.length - part(3, part(1, part(1))).length;
  for (let length = 0; length < whole; length++) {
    assertThrows(() => decodeAnswer(answer.slice(0, length), 2));
  }
});
