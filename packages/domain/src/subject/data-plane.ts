import { executionEventFilter, taskEventFilter, taskTypeToken } from "./subject.js";

/** How the messages of one data plane are kept apart from those of the others on the same bus. */
export interface DataPlaneScope {
  /** The subject on which this data plane sends and hears what everyone else names by `subject`. */
  subject(subject: string): string;
  /** The name of this data plane's own consumer of a kind. */
  durable(name: string): string;
}

/** What goes back and forth within a data plane, or from it to admin. What admin tells names an execution, and is for all to hear. */
const WITHIN: ReadonlySet<string> = new Set(["task", "event", "plugin"]);
const AT = "at";

/**
 * The scope of a data plane by the name that admin's configuration gives it: requests of its propeller reach its plugin services
 * alone, and their events its propeller alone. Undefined for the empty name: that data plane uses subjects as they are.
 *
 *     flyte.task.python-task.7    becomes    flyte.task.at.east.python-task.7
 */
export function dataPlaneScope(cluster: string): DataPlaneScope | undefined {
  if (cluster === "") return undefined;
  const token = taskTypeToken(cluster);
  return {
    subject: (subject) => {
      const [root, kind = "", ...rest] = subject.split(".");
      return WITHIN.has(kind) ? [root, kind, AT, token, ...rest].join(".") : subject;
    },
    // A token holds no `=`, and neither does a name that is not scoped.
    durable: (name) => `${name}=${token}`,
  };
}

/** All events of all data planes, for whoever records them. */
export const allEventFilters: readonly string[] = [
  executionEventFilter,
  taskEventFilter,
  `flyte.event.${AT}.*.execution.*`,
  `flyte.event.${AT}.*.task.*`,
];

/** What the subject of an event says of it. */
export interface EventOrigin {
  readonly kind: "task" | "execution";
  /** The data plane; undefined for the one without a name. */
  readonly cluster: string | undefined;
}

/** Undefined for a subject that is none of events. */
export function eventOrigin(subject: string): EventOrigin | undefined {
  const [root, event, ...rest] = subject.split(".");
  if (root !== "flyte" || event !== "event") return undefined;
  const named = rest[0] === AT && rest.length === 4;
  const kind = named ? rest[2] : rest[0];
  if (kind !== "task" && kind !== "execution") return undefined;
  return { kind, cluster: named ? decodeURIComponent(rest[1] ?? "") : undefined };
}
