// The binary form of Hrana, which unlike JSON has infinities. Only what a batch needs; field numbers are those of
// libsql's hrana.proto, and 6 and 8 of a result are sqld's own counts.
import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import type {
  BatchAnswer,
  BatchRequest,
  HranaCondition,
  HranaStep,
  HranaValue,
  StepError,
  StepResult,
  StepRows,
} from "./hrana.ts";
import { batchFailure, RemoteFailure } from "./remote_failure.ts";

/** The body of a request: one batch, and with `close` the end of its stream. */
export function encodeRequest({ steps, baton, close }: BatchRequest): Uint8Array<ArrayBuffer> {
  const body = new BinaryWriter();
  if (baton !== null) part(body, 1).string(baton);
  message(body, 2, () => message(body, 3, () => message(body, 1, () => writeSteps(body, steps))));
  if (close) message(body, 2, () => message(body, 1, () => {}));
  return body.finish();
}

/** The head of a field with a length. */
function part(writer: BinaryWriter, field: number): BinaryWriter {
  return writer.tag(field, WireType.LengthDelimited);
}

function message(writer: BinaryWriter, field: number, write: () => void): void {
  part(writer, field).fork();
  write();
  writer.join();
}

function writeSteps(writer: BinaryWriter, steps: readonly HranaStep[]): void {
  for (const { stmt, condition } of steps) {
    message(writer, 1, () => {
      if (condition) message(writer, 1, () => writeCondition(writer, condition));
      message(writer, 2, () => {
        part(writer, 1).string(stmt.sql);
        for (const value of stmt.args ?? []) message(writer, 3, () => writeValue(writer, value));
        writer.tag(5, WireType.Varint).bool(true);
      });
    });
  }
}

function writeCondition(writer: BinaryWriter, condition: HranaCondition): void {
  switch (condition.type) {
    case "ok":
      writer.tag(1, WireType.Varint).uint32(condition.step);
      return;
    case "error":
      writer.tag(2, WireType.Varint).uint32(condition.step);
      return;
    case "not":
      return message(writer, 3, () => writeCondition(writer, condition.cond));
    case "and":
      return message(writer, 4, () => {
        for (const one of condition.conds) message(writer, 1, () => writeCondition(writer, one));
      });
    case "is_autocommit":
      return message(writer, 6, () => {});
  }
}

function writeValue(writer: BinaryWriter, value: HranaValue): void {
  switch (value.type) {
    case "null":
      return message(writer, 1, () => {});
    case "integer":
      writer.tag(2, WireType.Varint).sint64(value.value);
      return;
    case "float":
      writer.tag(3, WireType.Bit64).double(value.value ?? 0);
      return;
    case "text":
      part(writer, 4).string(value.value);
      return;
    case "blob":
      part(writer, 5).bytes(Uint8Array.fromBase64(value.base64));
  }
}

/** `stepCount`: what no entry is about was skipped. Throws `RemoteFailure`, or `Error` on what is no answer. */
export function decodeAnswer(bytes: Uint8Array, stepCount: number): BatchAnswer {
  const reader = new BinaryReader(bytes);
  let baton: string | null = null;
  let answered: Answered | null = null;
  readFields(reader, bytes.length, (field) => {
    if (field === 1) baton = reader.string();
    // The answer to the batch; that to closing the stream stands behind it.
    else if (field === 3 && answered === null) answered = readStreamResult(reader, stepCount);
    else return false;
    return true;
  });
  return answerOf(answered, baton);
}

interface Answered {
  steps: StepResult[] | null;
  failure: StepError | null;
}

function answerOf(answered: Answered | null, baton: string | null): BatchAnswer {
  if (answered?.failure) throw batchFailure(answered.failure.message, answered.failure.code, baton);
  if (!answered?.steps) throw new RemoteFailure("unreachable", "no result");
  return { baton, steps: answered.steps };
}

/** Reads up to `end`; `read` says whether it has read the value of a field. */
function readFields(reader: BinaryReader, end: number, read: (field: number) => boolean): void {
  if (end > reader.len) throw new RangeError("message cut short");
  while (reader.pos < end) {
    const [field, type] = reader.tag();
    if (!read(field)) reader.skip(type, field);
  }
  if (reader.pos > end) throw new RangeError("message cut short");
}

function readMessage(reader: BinaryReader, read: (field: number) => boolean): void {
  const length = reader.uint32();
  readFields(reader, reader.pos + length, read);
}

/** `ok` with a result of the batch, or `error`. */
function readStreamResult(reader: BinaryReader, stepCount: number): Answered {
  const answered: Answered = { steps: null, failure: null };
  readMessage(reader, (field) => {
    if (field === 2) answered.failure = readError(reader);
    else if (field !== 1) return false;
    else {
      readMessage(reader, (kind) => {
        if (kind !== 3) return false;
        readMessage(reader, (inner) => {
          if (inner !== 1) return false;
          answered.steps = readSteps(reader, stepCount);
          return true;
        });
        return true;
      });
    }
    return true;
  });
  return answered;
}

function readSteps(reader: BinaryReader, stepCount: number): StepResult[] {
  const steps: StepResult[] = Array<StepResult>(stepCount).fill(null);
  readMessage(reader, (entry) => {
    if (entry !== 1 && entry !== 2) return false;
    let step = 0;
    let result: StepResult = null;
    readMessage(reader, (field) => {
      if (field === 1) step = reader.uint32();
      else if (field === 2) result = entry === 1 ? readResult(reader) : readError(reader);
      else return false;
      return true;
    });
    if (result) steps[step] = result;
    return true;
  });
  return steps;
}

function readResult(reader: BinaryReader): StepRows {
  const columns: string[] = [];
  const decltypes: (string | null)[] = [];
  const rows: HranaValue[][] = [];
  let changes = 0;
  let lastRowid: string | null = null;
  let rowsRead = 0;
  let ms = 0;
  readMessage(reader, (field) => {
    if (field === 1) {
      const { name, decltype } = readColumn(reader);
      columns.push(name);
      decltypes.push(decltype);
    } else if (field === 2) rows.push(readRow(reader));
    else if (field === 3) changes = Number(reader.uint64());
    else if (field === 4) lastRowid = reader.sint64().toString();
    else if (field === 6) rowsRead = Number(reader.uint64());
    else if (field === 8) ms = reader.double();
    else return false;
    return true;
  });
  return { ok: true, columns, decltypes, rows, rowsRead, changes, lastRowid, ms };
}

function readRow(reader: BinaryReader): HranaValue[] {
  const row: HranaValue[] = [];
  readMessage(reader, (field) => {
    if (field !== 1) return false;
    row.push(readValue(reader));
    return true;
  });
  return row;
}

function readValue(reader: BinaryReader): HranaValue {
  let value: HranaValue = { type: "null" };
  readMessage(reader, (field) => {
    if (field === 2) value = { type: "integer", value: reader.sint64().toString() };
    else if (field === 3) value = { type: "float", value: reader.double() };
    else if (field === 4) value = { type: "text", value: reader.string() };
    else if (field === 5) value = { type: "blob", base64: reader.bytes().toBase64() };
    else return false;
    return true;
  });
  return value;
}

function readColumn(reader: BinaryReader): { readonly name: string; readonly decltype: string | null } {
  let name = "";
  let decltype: string | null = null;
  readMessage(reader, (field) => {
    if (field === 1) name = reader.string();
    else if (field === 2) decltype = reader.string();
    else return false;
    return true;
  });
  return { name, decltype };
}

function readError(reader: BinaryReader): StepError {
  let message = "";
  let code = "";
  readMessage(reader, (field) => {
    if (field === 1) message = reader.string();
    else if (field === 2) code = reader.string();
    else return false;
    return true;
  });
  return { ok: false, message, code };
}
