import { BoundedMap } from "@flyte-ts/async";
import { allHelloFilters, decodeHeartbeat, helloOrigin, type PluginLoad, taskTypeToken } from "@flyte-ts/bus-contract";
import type { Bus, Subscription } from "@flyte-ts/messaging";

/** Process of a plugin service, as its heartbeats tell. */
export interface PluginReplica {
  readonly instance: string;
  /** Start of the process, milliseconds of the epoch; undefined if it is not known. */
  readonly startedMs: number | undefined;
  /** Time of the last heartbeat. */
  readonly heardMs: number;
  /** Attempts in progress; undefined for versions that do not tell. */
  readonly attempts: number | undefined;
  /** Acceptance of the oldest request that is not processed yet; undefined without one. */
  readonly oldestRequestMs: number | undefined;
}

/** Plugin service of a data plane. */
export interface PluginServiceStatus {
  readonly name: string;
  /** Data plane by its name on the message bus; empty for the one without a name. */
  readonly cluster: string;
  readonly taskTypes: readonly string[];
  readonly replicas: readonly PluginReplica[];
}

/** Bounds what a client that may publish heartbeats can invent. */
const MAX_REPLICAS = 1_000;
const MAX_TYPES = 200;
const MAX_TEXT = 200;
/** Time for which a process is listed after its last heartbeat, ms. */
const LISTED_MS = 3_600_000;

interface Heard extends PluginReplica {
  readonly name: string;
  readonly cluster: string;
  readonly taskTypes: ReadonlySet<string>;
}

/** Plugin services that this process has heard on the message bus within the last hour. */
export class PluginServices {
  readonly #heard = new BoundedMap<string, Heard>(MAX_REPLICAS);
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Takes a heartbeat of a single task type; ignores what is malformed. */
  receive(subject: string, data: Uint8Array): void {
    const origin = helloOrigin(subject);
    const heartbeat = decodeHeartbeat(data);
    if (origin === undefined || heartbeat === undefined) return;
    // The bus lets a service send on the subjects of its own task types alone.
    const taskType = heartbeat.taskTypes.find((each) => taskTypeToken(each) === origin.taskTypeToken);
    // Types that a process adds later have an instance with a suffix.
    const instance = heartbeat.instance.split("/", 1)[0] ?? "";
    const { name, uptimeMs, load } = heartbeat;
    if (taskType === undefined || [name, instance, taskType].some(({ length }) => length > MAX_TEXT)) return;
    const key = JSON.stringify([origin.cluster, name, instance]);
    const before = this.#heard.get(key);
    const heardMs = this.#now();
    const startedMs = Number.isFinite(uptimeMs) ? heardMs - uptimeMs : undefined;
    this.#heard.set(key, {
      name,
      cluster: origin.cluster,
      instance,
      // A type that is added later has a later start.
      startedMs: before?.startedMs === undefined || startedMs === undefined ? startedMs : Math.min(before.startedMs, startedMs),
      heardMs,
      taskTypes: new Set([...(before?.taskTypes ?? []), taskType].slice(0, MAX_TYPES)),
      ...loadAt(load, heardMs),
    });
  }

  /** Lists the services by data plane and name. */
  list(): readonly PluginServiceStatus[] {
    const listedFrom = this.#now() - LISTED_MS;
    const replicas = [...this.#heard.values()].filter(({ heardMs }) => heardMs >= listedFrom);
    const groups = Map.groupBy(replicas, ({ cluster, name }) => JSON.stringify([cluster, name]));
    return [...groups.keys()].sort().map((key) => statusOf(groups.get(key) ?? []));
  }
}

function statusOf(replicas: readonly Heard[]): PluginServiceStatus {
  const [{ name, cluster } = { name: "", cluster: "" }] = replicas;
  const taskTypes = new Set(replicas.flatMap((each) => [...each.taskTypes]));
  return { name, cluster, taskTypes: [...taskTypes].sort(), replicas: replicas.toSorted((one, other) => other.heardMs - one.heardMs) };
}

function loadAt(load: PluginLoad | undefined, heardMs: number): Pick<PluginReplica, "attempts" | "oldestRequestMs"> {
  const { attempts, oldestRequestMs = 0 } = load ?? {};
  return { attempts, oldestRequestMs: oldestRequestMs > 0 ? heardMs - oldestRequestMs : undefined };
}

/** Listens to the plugin services of all data planes until it is closed. */
export function watchPluginServices(bus: Pick<Bus, "subscribeEphemeral">, now: () => number): PluginServices & Subscription {
  const services = new PluginServices(now);
  const subscriptions = allHelloFilters.map((filter) => bus.subscribeEphemeral(filter, (subject, data) => services.receive(subject, data)));
  return Object.assign(services, { close: async () => void (await Promise.all(subscriptions.map((each) => each.close()))) });
}
