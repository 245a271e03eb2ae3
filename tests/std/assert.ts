// The part of JSR's `@std/assert` that these tests use, under the same names (see deno.json's import map).
import nodeAssert from "node:assert/strict";

export function assert(condition: unknown, message?: string): asserts condition {
  nodeAssert.ok(condition, message);
}
export function assertEquals<T>(actual: T, expected: T, message?: string): void {
  nodeAssert.deepStrictEqual(actual, expected, message);
}
export function assertNotEquals<T>(actual: T, expected: T, message?: string): void {
  nodeAssert.notDeepStrictEqual(actual, expected, message);
}
export function assertStringIncludes(actual: string, expected: string, message?: string): void {
  nodeAssert.ok(
    actual.includes(expected),
    message ?? `expected ${JSON.stringify(actual)} to include ${JSON.stringify(expected)}`,
  );
}
export function assertMatch(actual: string, expected: RegExp, message?: string): void {
  nodeAssert.match(actual, expected, message);
}
export function assertThrows(fn: () => unknown, expected?: RegExp): void {
  if (expected) nodeAssert.throws(fn, expected);
  else nodeAssert.throws(fn);
}
export async function assertRejects(fn: () => Promise<unknown>, expected?: RegExp): Promise<void> {
  if (expected) await nodeAssert.rejects(fn, expected);
  else await nodeAssert.rejects(fn);
}
