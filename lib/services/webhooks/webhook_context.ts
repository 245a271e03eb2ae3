// What the delivery of webhooks needs of the process.
import type { ControlPlane } from "../../control/control_plane.ts";
import type { Log } from "../../core/log.ts";
import type { PostOutcome, PublicPost } from "../../guard/post_public.ts";
import type { QueryContext } from "../../query/query_call.ts";

/** The process's parts. */
export interface WebhookContext {
  readonly control: ControlPlane;
  readonly query: QueryContext;
  readonly log: Log;
  /** Whether receivers may be inside of the operator's network. */
  readonly allowPrivate: boolean;
  readonly post: (post: PublicPost) => Promise<PostOutcome>;
  /** Attempts to deliver a message, since the start of the process. */
  readonly attempts: { delivered: number; failed: number };
}
