// On a full disk only a removal makes room, and its records need a little room themselves.
import { failedWith } from "../../core/errors.ts";
import type { TenantStore } from "../../tenant/tenant_store.ts";

/** Bytes that are lent at a time: far more than the records take, because whoever else waits for room takes of it too. */
const LENT_BYTES = 512 * 1024;
/** How often one removal may ask for them. */
const LENDINGS = 2;

/**
 * Does work that removes files, and that can be repeated: again in the room of the tenants' reserve where there was no other.
 * Errors: those of the work.
 */
export async function inLentRoom<Value>(
  { reserve }: Pick<TenantStore, "reserve">,
  work: () => Promise<Value>,
): Promise<Value> {
  for (let lendings = 0;; lendings++) {
    try {
      return await work();
    } catch (error) {
      if (!failedWith(error, "storage_full") || lendings === LENDINGS || !reserve?.lend(LENT_BYTES)) {
        throw error;
      }
    }
  }
}
