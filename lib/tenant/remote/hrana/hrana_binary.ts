// The binary form of Hrana, which unlike JSON has infinities. Only what a batch needs; field numbers are those of
// libsql's hrana.proto, and 6 and 8 of a result are sqld's own counts.
import type {
  BatchAnswer,
  BatchRequest,
  HranaCondition,
  HranaStep,
  HranaValue,
  StepResult,
} from "./hrana.ts";
import { doubleOf, type Field, MessageWriter, readFields, signedOf, textOf } from "./protobuf.ts";
import { batchFailure, RemoteFailure } from "./remote_failure.ts";

export function encodeRequest({ steps, baton, close }: BatchRequest): Uint8Array<ArrayBuffer> {
  const batch = new MessageWriter();
  for (const step of steps) batch.message(1, stepMessage(step));
  const body = new MessageWriter();
  if (baton !== null) body.text(1, baton);
  body.message(2, new MessageWriter().message(3, new MessageWriter().message(1, batch)));
  if (close) body.message(2, new MessageWriter().message(1, new MessageWriter()));
  return body.bytes;
}

function stepMessage({ stmt, condition }: HranaStep): MessageWriter {
  const statement = new MessageWriter().text(1, stmt.sql);
  for (const value of stmt.args ?? []) statement.message(3, valueMessage(value));
  const step = new MessageWriter();
  if (condition) step.message(1, conditionMessage(condition));
  return step.message(2, statement.unsigned(5, 1));
}

function conditionMessage(condition: HranaCondition): MessageWriter {
  const message = new MessageWriter();
  switch (condition.type) {
    case "ok":
      return message.unsigned(1, condition.step);
    case "error":
      return message.unsigned(2, condition.step);
    case "not":
      return message.message(3, conditionMessage(condition.cond));
    case "and": {
      const list = new MessageWriter();
      for (const one of condition.conds) list.message(1, conditionMessage(one));
      return message.message(4, list);
    }
    case "is_autocommit":
      return message.message(6, new MessageWriter());
  }
}

function valueMessage(value: HranaValue): MessageWriter {
  const message = new MessageWriter();
  switch (value.type) {
    case "null":
      return message.message(1, new MessageWriter());
    case "integer":
      return message.signed(2, BigInt(value.value));
    case "float":
      return message.double(3, value.value ?? 0);
    case "text":
      return message.text(4, value.value);
    case "blob":
      return message.data(5, Uint8Array.fromBase64(value.base64));
  }
}

/** `stepCount`: what no entry is about was skipped. Throws `RemoteFailure`, or `RangeError` on what is no answer. */
export function decodeAnswer(bytes: Uint8Array, stepCount: number): BatchAnswer {
  const fields = readFields(bytes);
  const named = fields.find((field) => field.number === 1);
  const baton = named ? textOf(named) : null;
  const [ok, failure] = [1, 2].map((number) => find(fields.find((field) => field.number === 3), number));
  if (failure) throw batchFailure(...errorOf(failure), baton);
  const result = find(find(ok, 3), 1);
  if (!result) throw new RemoteFailure("unreachable", "no result");
  const steps: StepResult[] = Array<StepResult>(stepCount).fill(null);
  for (const entry of readFields(result.bytes)) {
    const parts = readFields(entry.bytes);
    const step = Number(parts.find((part) => part.number === 1)?.bits ?? 0n);
    const value = parts.find((part) => part.number === 2);
    if (!value) continue;
    if (entry.number === 1) steps[step] = resultOf(value);
    else if (entry.number === 2) steps[step] = refusal(value);
  }
  return { baton, steps };
}

function resultOf(message: Field): StepResult {
  const columns: string[] = [];
  const rows: HranaValue[][] = [];
  let rowsRead = 0;
  let ms = 0;
  for (const field of readFields(message.bytes)) {
    if (field.number === 1) columns.push(textMember(field, 1));
    else if (field.number === 2) rows.push(readFields(field.bytes).map(valueOf));
    else if (field.number === 6) rowsRead = Number(field.bits);
    else if (field.number === 8) ms = doubleOf(field);
  }
  return { ok: true, columns, rows, rowsRead, ms };
}

function valueOf(message: Field): HranaValue {
  const [field] = readFields(message.bytes);
  switch (field?.number) {
    case 2:
      return { type: "integer", value: signedOf(field).toString() };
    case 3:
      return { type: "float", value: doubleOf(field) };
    case 4:
      return { type: "text", value: textOf(field) };
    case 5:
      return { type: "blob", base64: field.bytes.toBase64() };
    default:
      return { type: "null" };
  }
}

function errorOf(message: Field): [message: string, code: string] {
  return [textMember(message, 1), textMember(message, 2)];
}

function refusal(message: Field): StepResult {
  const [text, code] = errorOf(message);
  return { ok: false, message: text, code };
}

function textMember(message: Field, number: number): string {
  const field = find(message, number);
  return field ? textOf(field) : "";
}

function find(message: Field | undefined, number: number): Field | undefined {
  return message && readFields(message.bytes).find((field) => field.number === number);
}
