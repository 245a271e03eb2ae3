// Arguments that a client sends though it does not want them: some models have to send every argument of a tool, and say
// by an empty value which of them they leave out.
import { z } from "zod";

/**
 * The arguments without those that may be left out and have null, an empty text or an empty list of that type. Values of
 * a statement stay, because null and an empty text mean something there.
 */
export function withoutLeftOut(schema: unknown, given: unknown): unknown {
  if (schema instanceof z.ZodArray && Array.isArray(given)) {
    return given.map((one) => withoutLeftOut(schema.element, one));
  }
  if (!(schema instanceof z.ZodObject) || typeof given !== "object" || given === null) return given;
  const kept = Object.entries(given).filter(([name, one]) => !isLeftOut(schema.shape[name], one));
  return Object.fromEntries(kept.map(([name, one]) => [name, withoutLeftOut(schema.shape[name], one)]));
}

function isLeftOut(schema: unknown, value: unknown): boolean {
  if (!(schema instanceof z.ZodOptional || schema instanceof z.ZodDefault)) return false;
  const type = schema.unwrap();
  if (value === "") return type instanceof z.ZodString || type instanceof z.ZodEnum;
  return value === null || Array.isArray(value) && value.length === 0 && type instanceof z.ZodArray;
}
