// Stage 4: the prepaid balance. There is no meter yet: every call goes on.
import type { UnderstoodCall } from "./query_call.ts";

export function reserveBalance(_understood: UnderstoodCall): void {}
