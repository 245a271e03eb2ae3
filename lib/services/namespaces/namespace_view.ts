// A namespace record as the API shows it.
import { isoTime } from "../../core/clock.ts";
import type { NamespaceRecord } from "../../store/records.ts";

export interface NamespaceView {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  readonly createdAt: string;
}

export function namespaceView({ id, slug, name, createdAt }: NamespaceRecord): NamespaceView {
  return { id, slug, name, createdAt: isoTime(createdAt) };
}
