import { WorkflowPhase } from "@flyte-ts/domain/phase";
import type { TaskEvent } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import type { ParsedWorkflow } from "@flyte-ts/workflow-crd";
import type { EngineConfig } from "../../src/engine/config.js";
import { zombieAbortRequest } from "../../src/engine/messages/zombie-abort.js";
import { createRun } from "../../src/engine/run/workflow-run.js";
import { PluginRegistry } from "../../src/shell/plugins/plugin-registry.js";
import type { EnginePolicy } from "../../src/engine/state/engine-policy.js";
import type { Effect, Observation } from "../../src/engine/types.js";
import { WriteGate, differsInMetadataOnly, type StatusWrite, type StoredVersion } from "../../src/engine-io/write-gate.js";
import { SliceNotFound } from "../fixtures/slices.js";
import type { Wake } from "../services/admin-service.js";
import { Effects, type EffectsOptions } from "../world/effects.js";
import type { ProcessLifetime, ExecutionWorker } from "./process-lifetime.js";
import type { Resource, ResourceStore } from "../world/resource-store.js";
import type { SliceStore } from "../world/slice-store.js";

export interface PropellerOptions extends EffectsOptions {
  /** True when the process may act, whatever it believes. */
  readonly isHolder: () => boolean;
  /** Called when the process acts without being entitled. */
  readonly onFencingViolation: (what: string) => void;
  readonly store: ResourceStore;
  readonly parse: (resource: Resource) => ParsedWorkflow;
  readonly config: EngineConfig;
  /** True when plugin services send heartbeats. */
  readonly heartbeats: boolean;
  readonly slices: SliceStore;
  readonly onEffect: (effect: Effect) => void;
  readonly policy: EnginePolicy;
}

/** Maximum of immediate retries of a write after conflicts. */
const MAX_ATTEMPTS = 8;

/**
 * Sender in all heartbeats. It never changes, since `onPluginStarted` reports the starts of
 * processes.
 */
const ANNOUNCED = { name: "plugins", instance: "", uptimeMs: 0 };

interface Active {
  readonly io: WriteGate;
  readonly key: string;
  /** Version of the resource known to this process. */
  version: number;
}

/**
 * Propeller's part for one execution: the real engine and the real rules of writing, with simulated
 * I/O; its process may end at any step.
 */
export class Propeller implements ExecutionWorker {
  #active: Active | undefined;
  #buffered: Observation[] = [];
  /** The process holds the execution's shard and consumes its messages. */
  #works = false;
  #done = false;
  #writes = 0;
  #registry: { readonly life: ProcessLifetime; readonly known: PluginRegistry } | undefined;
  reloads = 0;

  readonly #effects: Effects;

  constructor(private readonly options: PropellerOptions) {
    this.#effects = new Effects(options, (observation) => this.#observe(observation));
  }

  begin(): void {
    if (this.#works) return;
    this.#works = true;
    this.#load();
  }

  drop(): void {
    this.#works = false;
    this.#active = undefined;
    this.#buffered = [];
    // The process remembers an ended execution only while it holds the shard.
    if (this.options.store.current !== undefined) this.#done = false;
  }

  /** Time by the process's clock. */
  get #now(): number {
    return this.options.schedule.now + this.options.host.clockSkewMs;
  }

  get writing(): boolean {
    return this.#writes > 0;
  }

  /** Handles a task event of the stream; false when it must be redelivered. */
  onTaskEvent(event: TaskEvent): boolean {
    return this.options.host.deliver(() => {
      if (!this.#works) return;
      if (this.#done || this.options.store.current === undefined) this.#abortZombie(event);
      else this.#observe({ kind: "taskEvent", event });
    });
  }

  /** Ephemeral: lost while the process is down. */
  onEndRecorded(phase: string): void {
    this.options.host.deliver(() => this.#observe({ kind: "endRecorded", phase }));
  }

  /** Handles a wake-up; lost while the process is down. */
  onWakeup(subject: Wake): void {
    this.options.host.deliver(() => this.#observe({ kind: "wakeup", ...subject }));
  }

  /** Handles a watch event. A run loaded from an old version is reloaded. */
  onWatchEvent(version: number): void {
    this.options.host.deliver(() => {
      if (!this.#works || this.#done) return;
      if (this.#active !== undefined && this.#active.io.isIdle && version > this.#active.version) {
        this.#reload();
        return;
      }
      if (this.options.store.current?.deletionRequested === true) this.#observe({ kind: "abort" });
    });
  }

  /** Handles heartbeats of plugin services, or their absence. */
  onHeartbeat(taskTypes: readonly string[]): void {
    this.options.host.deliver(() => {
      const presence = this.#plugins();
      if (taskTypes.length > 0) presence?.onHeartbeat({ ...ANNOUNCED, taskTypes }, this.#now);
      if (presence?.refresh(this.#now) === true) this.#observe({ kind: "plugins", plugins: presence.health });
    });
  }

  onPluginStarted(taskTypes: ReadonlySet<string>): void {
    this.options.host.deliver(() => this.#observe({ kind: "pluginStarted", taskTypes }));
  }

  /** This process's registry of plugin services. */
  #plugins(): PluginRegistry | undefined {
    const { life } = this.options.host;
    if (life === undefined || !this.options.heartbeats) return undefined;
    if (this.#registry?.life !== life)
      this.#registry = { life, known: new PluginRegistry({ listeningSince: this.#now, discoveryMs: 25_000, heartbeatTimeoutMs: 35_000 }) };
    return this.#registry.known;
  }

  resync(): void {
    this.options.host.deliver(() => {
      if (this.#active !== undefined) this.#observe({ kind: "resync" });
    });
  }

  #load(): void {
    const { random, host } = this.options;
    host.life?.after(random.between(1, 20), () => {
      if (!this.#works || this.#active !== undefined || this.#done || !host.holdsLease()) return;
      const resource = this.#read();
      if (resource === undefined) return;
      if (resource.labels["termination-status"] !== undefined) {
        this.#done = true;
        return;
      }
      const { config, policy } = this.options;
      const workflow = this.#parse(resource);
      if (workflow === undefined) return;
      const run = createRun({ workflow, config, now: this.#now, policy });
      this.#active = {
        io: new WriteGate(run, storedVersion(resource), this.#now),
        key: run.key,
        version: resource.resourceVersion,
      };
      const early = this.#buffered;
      this.#buffered = [];
      const plugins = this.#plugins()?.health;
      if (plugins !== undefined) this.#observe({ kind: "plugins", plugins });
      const isNew = !this.options.store.takenUp;
      this.options.store.takenUp = true;
      for (const observation of [{ kind: "load", isNew } as const, ...early]) this.#observe(observation);
    });
  }

  /**
   * A missing slice ends the execution, unless the resource that named it is outdated: that shows
   * when the end is written.
   */
  #parse(resource: Resource): ParsedWorkflow | undefined {
    try {
      return this.options.parse(resource);
    } catch (error) {
      if (!(error instanceof SliceNotFound)) throw error;
      const end = {
        metadata: { labels: { "termination-status": "terminated" }, finalizers: null },
        status: { phase: WorkflowPhase.Failed },
      };
      if (this.options.store.patch(end, resource.resourceVersion).kind === "conflict") this.#reload();
      else this.#forget();
      return undefined;
    }
  }

  #read(): Resource | undefined {
    const { store, random, faults } = this.options;
    const stale = random.chance(faults.staleRead) && store.current !== undefined;
    return stale ? store.history[Math.max(0, store.history.length - 1 - random.int(3))] : store.current;
  }

  /** Drops the run and reads the resource again. */
  #reload(): void {
    this.#active = undefined;
    this.reloads++;
    this.options.host.life?.after(this.options.random.between(10, 200), () => {
      if (this.#active === undefined) this.#load();
    });
  }

  #observe(observation: Observation): void {
    const { host } = this.options;
    if (!this.#works || this.#done || host.crashPoint()) return;
    if (!host.holdsLease()) return;
    const active = this.#active;
    if (active === undefined) {
      this.#buffered.push(observation);
      return;
    }
    const { run } = active.io;
    const effects = run.observe(observation, this.#now);
    const admitted = this.options.bug === "effectsBeforeWrites" ? effects : active.io.admit(effects);
    this.#perform(active, admitted);
    if (this.#active !== active) return;
    this.#queueWrite(active);
    this.#offerCapacity(active);
    this.#scheduleTimer(active);
    this.#writeLater(active);
  }

  /**
   * Starts a write, possibly after a delay. Other writes may precede it; it includes changes made
   * until its start.
   */
  #queueWrite(active: Active): void {
    const { random, host } = this.options;
    if (!active.io.wantsWrite(this.#now, random.chance(0.3))) return;
    if (random.chance(0.5)) return this.#write(active);
    host.life?.after(random.between(0, 20), () => {
      if (this.#active === active && host.holdsLease()) this.#write(active);
    });
  }

  /** A deferrable write starts when it is due. */
  #writeLater(active: Active): void {
    const { nextWriteAt } = active.io;
    if (nextWriteAt === undefined) return;
    this.options.host.life?.after(Math.max(0, nextWriteAt - this.#now), () => {
      if (this.#active === active && this.options.host.holdsLease()) this.#write(active);
    });
  }

  /** Capacity returns after a delay: when the last effects have been sent. */
  #offerCapacity(active: Active): void {
    if (!active.io.run.needsCapacity) return;
    this.options.host.life?.after(this.options.random.between(0, 5), () => {
      if (this.#active === active && active.io.run.needsCapacity) this.#observe({ kind: "capacity" });
    });
  }

  #scheduleTimer(active: Active): void {
    const at = active.io.run.nextTimerAt;
    if (at === undefined || this.options.bug === "noTimers") return;
    this.options.host.life?.after(at - this.#now, () => {
      const due = active.io.run.nextTimerAt;
      if (this.#active === active && due !== undefined && due <= this.#now) this.#observe({ kind: "timer" });
    });
  }

  #write(active: Active): void {
    const { slices, bug, host } = this.options;
    const { life } = host;
    const write = active.io.nextWrite(this.#now);
    if (write === undefined || host.crashPoint() || life === undefined) return;
    const { blobs = [], obsoleteSlices = [] } = write.patch;
    if (bug === "dropsSlicesEarly") slices.stop(obsoleteSlices);
    const writer = { mayWrite: () => this.#mayWrite(active), life };
    if (bug === "rootBeforeSlices" || blobs.length === 0) {
      slices.write(blobs, { ...writer, done: () => undefined });
      this.#patch(active, write);
    } else slices.write(blobs, { ...writer, done: () => host.crashPoint() || this.#patch(active, write) });
  }

  #mayWrite(active: Active): boolean {
    return this.options.host.holdsLease() && this.#active === active;
  }

  /**
   * Foreign changes of metadata alone do not reload the run: the write is retried on the new
   * version.
   */
  #patch(active: Active, write: StatusWrite, { version, tries } = { version: Number(write.base.resourceVersion), tries: 1 }): void {
    const { schedule, random, faults, host, store } = this.options;
    const { life } = host;
    // The process may have been paused since the slices became durable.
    if (life === undefined || !this.#mayWrite(active)) return;
    if (!this.options.isHolder()) this.options.onFencingViolation("a write");
    const unknown = random.chance(faults.writeUnknown);
    const lost = unknown && random.chance(0.5);
    this.#writes++;
    schedule.after(random.between(1, unknown ? 2_000 : 15), () => {
      // A write in flight arrives even after its sender's end.
      const result = lost ? undefined : store.patch(write.patch, this.options.bug === "writesWithoutVersion" ? undefined : version);
      life.after(0, () => {
        this.#writes--;
        if (this.#active !== active || host.crashPoint()) return;
        const now = store.current;
        const onlyMetadata = now !== undefined && differsInMetadataOnly(write.base, storedVersion(now));
        if (!unknown && result?.kind === "conflict" && onlyMetadata && tries < MAX_ATTEMPTS)
          this.#patch(active, write, { version: now.resourceVersion, tries: tries + 1 });
        else if (unknown || result === undefined || result.kind === "conflict") this.#reload();
        else if (result.kind === "gone") this.#forget();
        else this.#written(active, write, result.resource);
      });
    });
  }

  #written(active: Active, write: StatusWrite, resource: Resource): void {
    const { slices, host, bug } = this.options;
    if (host.life !== undefined) slices.deleteObsolete(write.patch, host.life);
    const { revision, released } = active.io.onWritten(storedVersion(resource), this.#now);
    active.version = resource.resourceVersion;
    this.#perform(active, bug === "effectsBeforeWrites" ? [] : released);
    if (this.#active === active) this.#observe({ kind: "persisted", revision });
  }

  #forget(): void {
    this.#active = undefined;
    this.#done = true;
  }

  #perform(active: Active, effects: readonly Effect[]): void {
    for (const effect of effects) {
      // The run is lost with its shard; the new holder derives the effects again.
      if (this.#active !== active || this.options.host.crashPoint() || !this.options.host.holdsLease()) return;
      if (!this.options.isHolder()) this.options.onFencingViolation(effect.kind);
      this.options.onEffect(effect);
      if (effect.kind === "finalize") this.#forget();
      else this.#effects.start(effect, active.io.run.terminal);
    }
  }

  #abortZombie(event: TaskEvent): void {
    const request = zombieAbortRequest(event, this.#now);
    if (request !== undefined && this.options.host.holdsLease()) this.options.requests.publish(request);
  }
}

function storedVersion({ resourceVersion, generation, deletionRequested }: Resource): StoredVersion {
  return { resourceVersion: String(resourceVersion), generation, deletionRequested };
}
