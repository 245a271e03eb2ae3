import { assertEquals, assertThrows } from "@std/assert";
import { AppError } from "../../lib/core/errors.ts";
import { parseJson } from "../../lib/guard/parse_json.ts";
import { surveyJson } from "../../lib/guard/survey_json.ts";

Deno.test("parseJson() gives what JSON.parse gives for text without long numbers", () => {
  for (const text of ['{"a":[1,-2.5e3,true,null,"x"]}', "0", '"\\u0000"', "[]", ' {"a":{}} ']) {
    assertEquals(parseJson(text), JSON.parse(text));
  }
});

Deno.test("parseJson() refuses integers that would be rounded, at any depth, and names none of them", () => {
  const texts = [
    "9007199254740993",
    "-9007199254740993",
    '{"a":[{"b":36028797018963969}]}',
    "123456789012345678901",
  ];
  for (const text of texts) {
    try {
      parseJson(text);
    } catch (error) {
      assertEquals(error instanceof AppError && error.code, "invalid_json", text);
      assertEquals(error instanceof AppError && /\d{3}/.test(error.message.replace("2^53", "")), false);
      continue;
    }
    throw new Error(`${text} passed`);
  }
});

Deno.test("parseJson() takes long integers that a double holds exactly, and long fractions", () => {
  assertEquals(parseJson("9007199254740991"), 9007199254740991);
  assertEquals(parseJson("9007199254740992"), 9007199254740992);
  assertEquals(parseJson("[1000000000000000000000]"), [1e21]);
  assertEquals(parseJson("3.1415926535897932384626433"), Math.PI);
  assertEquals(parseJson("1.00000000000000000000e2"), 100);
});

Deno.test("parseJson() takes a long number that stands there as JavaScript writes it where no INTEGER can be meant", () => {
  const written = [2 ** 63, -(2 ** 63), 2 ** 53, 2 ** 53 + 2, 1e20 + 1e5, 999999999999999900000];
  assertEquals(parseJson(JSON.stringify(written)), written);
  for (
    const text of [
      "1234567890123456800",
      "-1234567890123456800",
      "9223372036854774000",
      "1234567890123456789",
      "9223372036854775807",
      "-9223372036854775807",
      "18446744073709551615",
    ]
  ) {
    assertThrows(() => parseJson(text), /rounded/);
  }
});

Deno.test("parseJson() tells where the integer stands that would be rounded", () => {
  assertThrows(() => parseJson("9007199254740993"), /behind 0 characters/);
  const text = '{"a":["9007199254740993",9007199254740992,1234567890123456.5],"b":';
  assertThrows(
    () => parseJson(`${text}-9007199254740993,"c":18446744073709551615}`),
    new RegExp(`behind ${text.length} `),
  );
});

Deno.test("parseJson() takes a number of any size with an exponent or a fraction: it is a REAL", () => {
  for (const text of ["1.5e18", "1.2345678901234568e18", "12345678901234568e2", "1234567890123456800.0"]) {
    assertEquals(parseJson(text), Number(text), text);
  }
});

Deno.test("parseJson() leaves digits inside strings and names alone", () => {
  const value = { "9007199254740993": "9007199254740993" };
  assertEquals(parseJson(JSON.stringify(value)), value);
  const mixed = [0.1234567890123456, "9007199254740993", -1234567890123456, '\\"9007199254740993"', "\\"];
  assertEquals(parseJson(JSON.stringify(mixed)), mixed);
  assertThrows(() => parseJson('["9007199254740993","\\"",9007199254740993]'), /rounded/);
});

Deno.test("parseJson() answers invalid_json for what is no JSON, without quoting it", () => {
  for (const text of ["", "{", "hunter2", '{"hunter2"}', "[1,]", "9007199254740993hunter2", "\u0001"]) {
    assertThrows(() => parseJson(text), /^AppError: Send the body as JSON; it could not be parsed$/);
  }
});

Deno.test("parseJson() makes an own property of __proto__", () => {
  const value = parseJson('{"__proto__":{"polluted":12345678901234560}}');
  assertEquals(Object.hasOwn(value as object, "__proto__"), true);
  assertEquals(Reflect.get({}, "polluted"), undefined);
});

Deno.test("surveyJson() sees where a string ends, however long it is and whatever is escaped in it", () => {
  for (let length = 0; length < 80; length++) {
    const long = "x".repeat(length);
    for (const value of [`${long}\\`, `${long}"`, `${long}\\"`, `"${long}\\\\`, `${long}[{"a":[`]) {
      const text = JSON.stringify({ [value]: [value, {}] });
      const { lists, objects, members, depth } = surveyJson(text);
      assertEquals([lists, objects, members, depth], [1, 2, 1, 3], text);
    }
  }
});

Deno.test("surveyJson() tells names in another order apart, and the same ones not", () => {
  const long = "x".repeat(40_000);
  const text = (...objects: object[]) => JSON.stringify([long, ...objects]);
  assertEquals(surveyJson(text({ a: 1, b: 2 }, { a: 3, b: 4 })).beginnings, 2);
  assertEquals(surveyJson(text({ a: 1, b: 2 }, { b: 3, a: 4 })).beginnings, 4);
});
