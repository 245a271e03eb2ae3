// The people of a namespace: one record a member, found by address at sign-in.
import { keys } from "../store/keys.ts";
import { kvCommit, kvGet } from "../store/kv_call.ts";
import type { MemberRecord } from "../store/people_records.ts";
import { FASTER, untilCommitted } from "../store/until_committed.ts";
import { listPage, type Page, type PageInput } from "./list_page.ts";

/** What became of a new member. */
export type AddOutcome =
  | { readonly ok: true }
  | { readonly ok: false; readonly reason: "namespace_gone" | "email_taken" };

/** Every method's errors: `meter_unreachable`. */
export class Members {
  constructor(private readonly kv: Deno.Kv) {}

  /** Adds a member of a namespace that is there. */
  async add(record: MemberRecord): Promise<AddOutcome> {
    const { namespaceId, id, email } = record;
    return await untilCommitted(async () => {
      const [namespace, pointer] = await Promise.all([
        kvGet(this.kv, keys.namespace(namespaceId)),
        kvGet(this.kv, keys.memberByEmail(namespaceId, email)),
      ]);
      if (namespace.versionstamp === null) return { ok: false, reason: "namespace_gone" };
      if (pointer.versionstamp !== null) return { ok: false, reason: "email_taken" };
      const addition = this.kv.atomic().check(namespace).check(pointer)
        .set(pointer.key, id).set(keys.member(namespaceId, id), record);
      return await kvCommit(addition) ? { ok: true } : FASTER;
    });
  }

  async byId(namespaceId: string, memberId: string): Promise<MemberRecord | null> {
    return (await kvGet(this.kv, keys.member(namespaceId, memberId))).value;
  }

  async byEmail(namespaceId: string, email: string): Promise<MemberRecord | null> {
    const { value: memberId } = await kvGet(this.kv, keys.memberByEmail(namespaceId, email));
    return memberId === null ? null : await this.byId(namespaceId, memberId);
  }

  list(namespaceId: string, page: PageInput): Promise<Page<MemberRecord>> {
    return listPage(this.kv, keys.members(namespaceId), page);
  }
}
