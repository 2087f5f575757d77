import { executionEventFilter, taskEventFilter, taskTypeToken } from "./subject.js";

/** Separates the messages of one data plane from those of the others on the same bus. */
export interface DataPlaneScope {
  /** Maps a common subject to the one that this data plane publishes and subscribes to. */
  subject(subject: string): string;
  /** Maps the name of a consumer to this data plane's own. */
  durable(name: string): string;
}

/**
 * Kinds of messages that have a subject for each data plane: those within a data plane and those
 * from it to admin. Messages from admin name an execution and may reach every data plane.
 */
const WITHIN: ReadonlySet<string> = new Set(["task", "event", "plugin"]);
/** Precedes the name of a data plane in a subject. */
export const AT = "at";

/**
 * Creates the scope of a data plane by its name in admin's configuration: requests of its propeller
 * reach only its plugin services, and their events only its propeller. Undefined for the empty
 * name: that data plane uses subjects unchanged.
 *
 * flyte.task.python-task.7 becomes flyte.task.at.east.python-task.7
 */
export function dataPlaneScope(cluster: string): DataPlaneScope | undefined {
  if (cluster === "") return undefined;
  const token = taskTypeToken(cluster);
  return {
    subject: (subject) => {
      const [root, kind = "", ...rest] = subject.split(".");
      return WITHIN.has(kind) ? [root, kind, AT, token, ...rest].join(".") : subject;
    },
    // `=` occurs neither in a token nor in an unscoped name, so scoped names are unambiguous.
    durable: (name) => `${name}=${token}`,
  };
}

/** Filters for all events of all data planes, for their recorders. */
export const allEventFilters: readonly string[] = [
  executionEventFilter,
  taskEventFilter,
  `flyte.event.${AT}.*.execution.*`,
  `flyte.event.${AT}.*.task.*`,
];

/** Origin of an event, parsed from its subject. */
export interface EventOrigin {
  readonly kind: "task" | "execution";
  /** The data plane; undefined for the one without a name. */
  readonly cluster: string | undefined;
}

/** Undefined for a subject that is not one of events. */
export function eventOrigin(subject: string): EventOrigin | undefined {
  const [root, event, ...rest] = subject.split(".");
  if (root !== "flyte" || event !== "event") return undefined;
  const named = rest[0] === AT && rest.length === 4;
  const kind = named ? rest[2] : rest[0];
  if (kind !== "task" && kind !== "execution") return undefined;
  return { kind, cluster: named ? decodeURIComponent(rest[1] ?? "") : undefined };
}

/**
 * Queue of an event's subject, for `queueOf`: events of a shard keep the order of the bus, in which
 * the events of an attempt follow those of its node.
 *
 * flyte.event.execution.7 and flyte.event.task.7 become flyte.event.7
 */
export function eventQueue(subject: string): string {
  return subject.replace(/\.(?:execution|task)(?=\.\d+$)/, "");
}
