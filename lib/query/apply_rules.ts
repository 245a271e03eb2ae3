// Stage 3: approval rules. There are none yet: every call that its role allows goes on.
import type { UnderstoodCall } from "./query_call.ts";

export function applyRules(_understood: UnderstoodCall): void {}
