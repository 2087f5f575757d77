import { AT } from "./data-plane.js";
import { pluginHelloSubject, taskTypeHelloFilter } from "./subject.js";

const [ROOT, PLUGIN, HELLO] = pluginHelloSubject.split(".");

/** Filters for the heartbeats of single task types in all data planes. */
export const allHelloFilters: readonly string[] = [taskTypeHelloFilter, `${ROOT}.${PLUGIN}.${AT}.*.${HELLO}.*`];

/** Origin of a heartbeat, parsed from its subject. */
export interface HelloOrigin {
  /** Token of the task type. */
  readonly taskTypeToken: string;
  /** Name of the data plane; empty for the one without a name. */
  readonly cluster: string;
}

/** Undefined for a subject that is not one of heartbeats of a single task type. */
export function helloOrigin(subject: string): HelloOrigin | undefined {
  const [root, plugin, ...rest] = subject.split(".");
  if (root !== ROOT || plugin !== PLUGIN) return undefined;
  const isNamed = rest[0] === AT && rest.length === 4;
  const [hello, taskTypeToken = ""] = isNamed ? rest.slice(2) : rest;
  if (hello !== HELLO || rest.length !== (isNamed ? 4 : 2)) return undefined;
  return { taskTypeToken, cluster: isNamed ? decodeURIComponent(rest[1] ?? "") : "" };
}
