// A held write at a client that can open a page for its user: the answer asks for the approval's page, and the client
// repeats the call once the user has been there. Whatever the client says then, only a person's decision counts.
import { hash } from "node:crypto";
import {
  createRequestStateCodec,
  inputRequired,
  type InputRequiredResult,
  type RequestStateCodec,
} from "@modelcontextprotocol/server";
import type { KeyedHashes } from "../../lib/control/keyed_hashes.ts";
import { AppError } from "../../lib/core/errors.ts";
import { outcomeOf } from "../../lib/core/outcome_of.ts";
import { approvalUrl } from "../../lib/query/hold_call.ts";
import { readApproval } from "../../lib/services/approvals/read_approval.ts";
import { statementsOf } from "./tools/call_contexts.ts";
import { answering, type AskedCall, type HeldFailure, prepareCall, type ToolOutcome } from "./call_tool.ts";
import type { DatabaseCall, DatabaseTool } from "./tools/tool.ts";
import { redeem } from "./tools/write_tools.ts";
import type { McpVisit } from "./tools/visit.ts";

/** What a client sends back with the repeated call: signed, and good for ten minutes. */
export interface HeldState {
  readonly approvalId: string;
  /** API token that asked. */
  readonly tokenId: string;
  /** Digest of the call, so that a state serves no other. */
  readonly call: string;
}

const STATE_SEC = 600;

/** One for the process. The key is the installation's, so that any instance reads the states of the others. */
const codecs = new WeakMap<KeyedHashes, Promise<RequestStateCodec<HeldState>>>();

/** Errors: `meter_unreachable`, until the key has been read once. */
export function stateCodec(hashes: KeyedHashes): Promise<RequestStateCodec<HeldState>> {
  let codec = codecs.get(hashes);
  if (codec === undefined) {
    codec = makeCodec(hashes);
    codec.catch(() => codecs.delete(hashes));
    codecs.set(hashes, codec);
  }
  return codec;
}

async function makeCodec(hashes: KeyedHashes): Promise<RequestStateCodec<HeldState>> {
  const key = Uint8Array.fromHex(await hashes.of("mcp request state"));
  return createRequestStateCodec<HeldState>({ key, ttlSeconds: STATE_SEC });
}

/** The question that opens the approval's page. */
export async function askPerson(
  { deps, caller }: McpVisit,
  asked: AskedCall,
  { error, approvalId }: HeldFailure,
): Promise<InputRequiredResult> {
  const url = String(error.facts.extra?.["approvalUrl"]);
  const codec = await stateCodec(deps.query.hashes);
  return inputRequired({
    inputRequests: {
      approval: inputRequired.elicitUrl({
        url,
        message:
          "A rule of this database holds the change until a person has approved it. Nothing has run yet.",
      }),
    },
    requestState: await codec.mint({ approvalId, tokenId: caller.tokenId, call: digestOf(asked) }),
  });
}

/** Whether the state belongs to this very call of this very token. */
export function isStateOf({ caller }: McpVisit, asked: AskedCall, state: HeldState): boolean {
  return state.tokenId === caller.tokenId && state.call === digestOf(asked);
}

/** The repeated call: what was approved runs, and what still waits is told as it was held. */
export async function resumeHeld(
  visit: McpVisit,
  asked: AskedCall & { readonly tool: DatabaseTool },
  { approvalId }: HeldState,
): Promise<ToolOutcome> {
  return await answering(visit, asked.tool, async () => {
    const { call } = await prepareCall(visit, asked);
    const outcome = await outcomeOf(() => redeem(call, approvalId));
    if (outcome.ok) return outcome.value;
    const { error } = outcome;
    throw error.code === "approval_pending" ? await stillHeld(call, approvalId) : error;
  });
}

async function stillHeld(call: DatabaseCall, approvalId: string): Promise<AppError> {
  const { deps, caller } = call.visit;
  const { hits, expiresAt } = await readApproval(statementsOf(call), {
    approvalId,
    waitSec: 0,
    signal: call.signal,
    again: () => Promise.resolve(),
  });
  const url = approvalUrl(deps.baseUrl, caller.namespaceSlug, approvalId);
  return new AppError("approval_required", { extra: { approvalUrl: url, hits, expiresAt } });
}

function digestOf({ tool, given }: AskedCall): string {
  return hash("sha256", JSON.stringify([tool.name, given]), "hex");
}
