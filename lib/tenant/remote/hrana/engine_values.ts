// Between values as the embedded engine has them, integers as bigint, and those of Hrana. Nothing is lost either way.
import type { EngineValue } from "../../../engine/result_json.ts";
import type { HranaValue } from "./hrana.ts";

/** A value of Hrana as the embedded engine has it. */
export function fromHrana(value: HranaValue): EngineValue {
  switch (value.type) {
    case "null":
      return null;
    case "integer":
      return BigInt(value.value);
    case "float":
    case "text":
      return value.value;
    case "blob":
      return Uint8Array.fromBase64(value.base64);
  }
}

/** A value of the embedded engine as Hrana has it. */
export function toHrana(value: EngineValue): HranaValue {
  if (value === null) return { type: "null" };
  if (typeof value === "bigint") return { type: "integer", value: value.toString() };
  if (typeof value === "number") return { type: "float", value };
  if (typeof value === "string") return { type: "text", value };
  return { type: "blob", base64: value.toBase64({ omitPadding: true }) };
}
