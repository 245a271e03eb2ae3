// What a gate is asked, in the form in which another thread can be asked it.
import type { InspectedStatement } from "../../../engine/compile_statement.ts";
import type { InspectOptions } from "../../inspection.ts";
import type { TenantSchema } from "./compiled_schema.ts";
import type { GateCall, GateCompiler } from "./gate_compiler.ts";

/** Of a call only what `GateCall` names may be in it: the rest cannot be sent. */
export type GateRequest =
  | readonly ["inspect", statements: readonly InspectedStatement[], options?: InspectOptions | undefined]
  | readonly ["gate" | "previewTargets", call: GateCall]
  | readonly ["tables"];

/** A request to the thread, about a database's schema of one version. */
export interface SentRequest {
  readonly version: number;
  readonly schema: TenantSchema;
  readonly request: GateRequest;
}

/** What the thread says: that it is there, then one of the others to each request. `usedUp`: it should do no more. */
export type ThreadReply =
  | { readonly is: "ready" }
  | { readonly is: "answer"; readonly answer: unknown; readonly usedUp: boolean }
  | { readonly is: "failure"; readonly message: string; readonly usedUp: boolean };

/** What the compiler's method of that name says. Throws what that throws. */
export function answerRequest(compiler: GateCompiler, request: GateRequest): unknown {
  switch (request[0]) {
    case "inspect":
      return compiler.inspect(request[1], request[2]);
    case "gate":
      return compiler.gate(request[1]);
    case "previewTargets":
      return compiler.previewTargets(request[1]);
    case "tables":
      return compiler.tables();
  }
}
