import type { ManualTime } from "@flyte-ts/async/manual-time";
import { attemptLogTag } from "@flyte-ts/domain/name";
import { type KubeObject, objectKey, type PatchOptions, type PodLogOptions, PODS, type ResourceRef } from "@flyte-ts/kubernetes";
import { buildPod, decodeAttemptAnnotation, type Pod } from "@flyte-ts/pod-task";
import { takeOf, WARM_MODE_LABEL, WARM_STATE_LABEL, warmStart } from "@flyte-ts/pod-task/warm";
import type { Plugin, TaskRequest } from "@flyte-ts/task-plugin";
import { attemptKey } from "@flyte-ts/task-plugin";
import type { JobFault } from "@flyte-ts/task-plugin/harness";
import { idlePod } from "../warm/idle-pod.js";
import { WarmPool } from "../warm/pool.js";
import { warmPodSettings } from "../warm/settings.js";
import { config, logger, outputs, podRequest, PodWorld } from "./pod-world.js";
import type { Change } from "./simulated-cluster.js";
import { mark, SimulatedSupervisors } from "./simulated-supervisors.js";
import { warmRequest } from "./warm-world.js";

/** Mistakes with reused pods, which the simulation has to find. */
export type ReusedMistake = "freesBeforeItsEndIsStored" | "takesAnyVersion" | "freesAnyVersion" | "confusesEnds" | "makesRoomByAnyVersion";

/** Late calls of the simulated cluster take effect within this time, ms. */
const SETTLES_WITHIN_MS = 3_000;
/** Time after which another attempt takes a pod that was freed, ms. */
const RIVAL_MS = 50;
/** Time after which another attempt takes a pod that a patch without an answer is to change, ms. */
const LATE_RIVAL_MS = 500;
/** Time in which the pool looks at a change, ms. */
const SETTLE_MS = 20;
/** Time after which a pod without a node is gone, ms. */
const NO_NODE_MS = 8_000;
/** Annotation of pods that an attempt of others has taken. */
const RIVAL = "simulation/rival";
/** Time from the removal of an attempt until one of others takes its pod, ms. */
const SUCCESSOR_MS = 20;
/** Time after which the attempt before this one has ended, ms: its pod has started. */
const EARLIER_MS = 1_000;
/** Attempt of others that takes pods from the pool. */
const SUCCESSOR = { generatedName: "successor-n0-0", nodePath: "n0" };
const settings = warmPodSettings.parse({ enabled: true, rules: [{ mode: "reused" }], minIdle: 2, keepMs: 600_000 });

/**
 * A simulated cluster with reused pods, in which an earlier attempt has run. Attempts of others
 * take offered and freed pods at once, and those whose change has no answer; nothing may touch
 * their pods.
 */
export class ReusedWorld extends PodWorld {
  /** Mistakes that were seen, beside those of the attempt. */
  readonly violations: string[] = [];
  /** Number of pods that an earlier process has started ahead. */
  ahead = 2;
  /** Attempts of others take pods that were freed. */
  hasRivals = true;
  /** An attempt of others has ended in the first pod, which is offered. */
  hasOffer = false;
  /** Number of pods that were freed. */
  frees = 0;
  /** Number of pods that went from one attempt to the next. */
  handOvers = 0;
  #supervisors: SimulatedSupervisors | undefined;
  #faults = 0;
  /** The next pod that is freed is to make room for another one. */
  #needsRoom = false;
  /** The pool of the last process. */
  #pool: WarmPool | undefined;
  /** Take of the attempt of others that has ended. */
  #endedTake = "none";
  /** Propeller has stored the end of the attempt, or does not need it. */
  #mayForget = false;

  constructor(
    private readonly mistake?: ReusedMistake,
    settlesWithinMs = SETTLES_WITHIN_MS,
  ) {
    super({ creationSettlesWithinMs: settlesWithinMs });
    this.cluster.onChange((change) => this.#onChange(change));
    this.cluster.onLatePatch = (key) => this.clock?.schedule(LATE_RIVAL_MS, () => this.#takeForOthers(this.cluster.pods.get(key)));
    if (mistake === "takesAnyVersion") this.#dropVersions("taken");
    if (mistake === "freesAnyVersion") this.#dropVersions("idle");
    if (mistake === "makesRoomByAnyVersion") this.#dropDeletedVersions();
    this.#takeBeforeDeletions();
  }

  /** No earlier process than the first has calls that may take effect. */
  readonly quietMs = SETTLES_WITHIN_MS;

  override request = (): TaskRequest => warmRequest();

  override plugin(clock: ManualTime): Plugin {
    this.clock = clock;
    this.#supervisors ??= this.#startSupervisors(clock);
    const plugin = super.plugin(clock);
    return {
      ...plugin,
      abort: (request) => {
        this.#mayForget = true;
        return plugin.abort(request);
      },
      finalize: (request) => {
        this.#mayForget = true;
        if (this.hasRivals) clock.schedule(SUCCESSOR_MS, () => this.#takeByPool());
        return plugin.finalize?.(request);
      },
    };
  }

  protected override warmPool(clock: ManualTime): WarmPool {
    if (this.cluster.creations.size === 0) this.#startAhead(this.ahead);
    const pool = new WarmPool({ client: this.cluster, clock, logger, settings });
    this.#pool = pool;
    this.#offerEnded(pool);
    if (this.mistake === "freesBeforeItsEndIsStored") {
      const { ends } = pool.reused;
      const start = ends.start.bind(ends);
      ends.start = (onEnd) =>
        start((pod) => {
          onEnd(pod);
          clock.schedule(10, () => void pool.reused.free(pod).catch(() => undefined));
        });
    }
    return pool;
  }

  override complete(request: TaskRequest): void {
    const pod = this.cluster.podOf(attemptKey(request));
    if (pod === undefined || takeOf(pod) === undefined) return super.complete(request);
    this.cluster.startPod(objectKey(pod));
    this.store.blobs.set(`${request.outputPrefix}/outputs.pb`, outputs);
    this.#supervisors?.complete(attemptLogTag(request));
  }

  /** Lets the kubelet stop the attempt's pod: its supervisor tells so as given. */
  stopPod(request: TaskRequest, told: object): void {
    this.#supervisors?.stop(attemptLogTag(request), told);
  }

  /** Keeps later assignments from the supervisors, as a kubelet that is lost. */
  hideAssignments(): void {
    if (this.#supervisors !== undefined) this.#supervisors.readsAssignments = false;
  }

  /** Lets supervisors tell that attempts import modules, or that these cannot be loaded ahead. */
  tellModules(told: { readonly imports?: readonly unknown[]; readonly refused?: readonly unknown[] }): void {
    if (this.#supervisors !== undefined) this.#supervisors.told = told;
  }

  /** Lets the kubelet miss the next change of an assignment until its periodic sync. */
  missChange(): void {
    if (this.#supervisors !== undefined) this.#supervisors.missedChanges = 1;
  }

  override isRunning(request: TaskRequest): boolean {
    const pod = this.cluster.podOf(attemptKey(request));
    const runs = this.#supervisors?.isRunning(attemptLogTag(request)) === true;
    if (runs || pod === undefined) return runs;
    return takeOf(pod) === undefined ? super.isRunning(request) : isStarting(pod);
  }

  override inject(fault: JobFault): void {
    super.inject(fault);
    this.#supervisors?.breakLogs(this.#faults++ % 2 === 0 ? "hang" : "close");
    if (this.#faults % 4 === 0) this.missChange();
    this.#needsRoom ||= this.#faults % 2 === 0;
  }

  /** Starts a pod of another attempt that finds no node, so that idle pods are deleted for it. */
  #findNoNode(): void {
    const name = `other-${this.#faults}`;
    const request = podRequest({ generatedName: name });
    const pod = buildPod(request, { config: config.pods });
    this.cluster.createDirectly({ ...pod, metadata: { ...pod.metadata, name, ownerReferences: [] } });
    const conditions = [{ type: "PodScheduled", status: "False", reason: "Unschedulable", message: "no node" }];
    this.cluster.setPodStatus(`${request.namespace}/${name}`, "Pending", { state: { waiting: {} }, conditions });
    this.clock?.schedule(NO_NODE_MS, () => this.cluster.deletePodExternally(`${request.namespace}/${name}`));
  }

  #startSupervisors(clock: ManualTime): SimulatedSupervisors {
    const supervisors = new SimulatedSupervisors(this.cluster, clock);
    const { logs } = this.cluster;
    if (this.mistake === "confusesEnds" && logs !== undefined) this.cluster.logs = (options) => this.#confuse(options, logs(options));
    return supervisors;
  }

  #startAhead(count: number): void {
    const request = warmRequest();
    const start = warmStart(buildPod(request, { config: config.pods }), request, {
      python: "python3",
      maxIdleSeconds: 1_800,
      reuse: settings.reuse,
    });
    if (start === undefined) throw new Error("the task of the simulation cannot take a warm pod");
    for (let i = 0; i < count; i++) {
      const pod = idlePod(start, { name: `warm-${i}`, pool: "earlier" });
      void this.cluster.create(PODS, pod);
      if (this.hasOffer && i === 0) this.clock?.schedule(EARLIER_MS, () => this.#endEarlier(objectKey(pod)));
    }
  }

  /** Gives a pod to an attempt of others that has ended. */
  #endEarlier(key: string): void {
    const { uid = "", resourceVersion = "" } = this.cluster.pods.get(key)?.metadata ?? {};
    this.#endedTake = resourceVersion;
    const annotations = {
      "flyte.org/warm-taken": `${uid} 2026-01-02T03:04:05Z ${resourceVersion}`,
      "flyte.org/warm-pool": null,
    };
    this.cluster.patchDirectly(key, { metadata: { labels: { [WARM_STATE_LABEL]: "taken" }, annotations } });
    if (this.#pool !== undefined) this.#offerEnded(this.#pool);
  }

  #onChange({ before, after }: Change): void {
    if (before === undefined) return;
    const name = before.metadata.name;
    const isHandedOver =
      after !== undefined && takeOf(before) !== undefined && takeOf(after) !== undefined && takeOf(after) !== takeOf(before);
    if (isHandedOver) {
      this.handOvers++;
      if (takeOf(before) !== this.#endedTake && !isOfOthers(before) && !this.#mayForget)
        this.violations.push(`pod ${name} was handed over before the end of its attempt was stored`);
    }
    if (isOfOthers(before) && before.metadata.deletionTimestamp === undefined) {
      if (after === undefined || after.metadata.deletionTimestamp !== undefined)
        this.violations.push(`pod ${name} of another attempt was deleted`);
      else if (takeOf(after) !== takeOf(before)) this.violations.push(`pod ${name} was taken from another attempt`);
    }
    if (after !== undefined && isIdle(after) && takeOf(before) !== undefined) {
      this.frees++;
      if (!isOfOthers(before) && !this.#mayForget) this.violations.push(`pod ${name} was freed before the end of its attempt was stored`);
      // Idle pods make room in the moment in which another attempt takes one.
      if (this.#needsRoom) this.clock?.schedule(RIVAL_MS - SETTLE_MS, () => this.#findNoNode());
      this.#needsRoom = false;
      if (this.hasRivals) this.clock?.schedule(RIVAL_MS, () => this.#takeForOthers(this.cluster.pods.get(objectKey(after))));
    }
  }

  #takeForOthers(pod: Pod | undefined): void {
    if (pod === undefined || !isIdle(pod) || pod.metadata.deletionTimestamp !== undefined) return;
    const { namespace = "", name, uid = "", resourceVersion = "" } = pod.metadata;
    const assignment = JSON.stringify({ take: resourceVersion, tag: "1".repeat(16) });
    const annotations = {
      [RIVAL]: "true",
      "flyte.org/warm-taken": `${uid} 2026-01-02T03:04:05Z ${resourceVersion}`,
      "flyte.org/warm-assignment": assignment,
      "flyte.org/warm-pool": null,
    };
    this.cluster.patchDirectly(`${namespace}/${name}`, { metadata: { labels: { [WARM_STATE_LABEL]: "taken" }, annotations } });
  }

  /** Lets an attempt of others that this plugin does not follow take a pod, offered or idle. */
  #takeByPool(): void {
    const pool = this.#pool;
    const request = warmRequest(SUCCESSOR);
    const start = pool?.startFor(buildPod(request, { config: config.pods }), request);
    if (start !== undefined) void pool?.take(request, { ...start, taken: { ...start.taken, labels: {} } }).catch(() => undefined);
  }

  /** Offers the pod of the ended attempt, as a process does that was asked to remove it. */
  #offerEnded(pool: WarmPool): void {
    const pod = [...this.cluster.pods.values()].find((each) => takeOf(each) === this.#endedTake);
    if (pod === undefined || pool !== this.#pool) return;
    void pool.reused.offers.offer({ pod, settledAt: 0 }).then((isTaken) => !isTaken && this.#offerEnded(pool));
  }

  /** Takes the current version for the one that the caller knows, in patches to this state. */
  #dropVersions(state: "taken" | "idle"): void {
    const patch = this.cluster.mergePatch.bind(this.cluster);
    this.cluster.mergePatch = <T extends KubeObject>(ref: ResourceRef, { body, ...options }: PatchOptions): Promise<T> => {
      const { metadata } = body as { metadata: { labels?: Record<string, string | null> } };
      const drops = metadata.labels?.[WARM_STATE_LABEL] === state;
      return patch<T>(ref, { ...options, body: { metadata: { ...metadata, ...(drops ? { resourceVersion: undefined } : {}) } } });
    };
  }

  /** Lets another attempt take an idle pod while each second deletion is on its way. */
  #takeBeforeDeletions(): void {
    const deleteOne = this.cluster.delete.bind(this.cluster);
    let deletions = 0;
    this.cluster.delete = (ref, options) => {
      if (this.hasRivals && deletions++ % 2 === 0) this.#takeForOthers(this.cluster.pods.get(`${options.namespace}/${options.name}`));
      return deleteOne(ref, options);
    };
  }

  /** Deletes whatever version a pod has. */
  #dropDeletedVersions(): void {
    const deleteOne = this.cluster.delete.bind(this.cluster);
    this.cluster.delete = (ref, { namespace, name, gracePeriodSeconds }) =>
      deleteOne(ref, { namespace, name, ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }) });
  }

  /** Takes every end for that of the pod's attempt. */
  async *#confuse({ namespace, name }: PodLogOptions, log: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of log) {
      const pod = this.cluster.pods.get(`${namespace}/${name}`);
      const { tag = "", take = "" } = JSON.parse(pod?.metadata.annotations?.["flyte.org/warm-assignment"] ?? "{}") as {
        tag?: string;
        take?: string;
      };
      const isEnd = Buffer.from(chunk).toString().includes('"end"');
      yield isEnd ? Buffer.from(`2026-01-02T03:04:05.000000001Z ${tag}= ${mark(take)}\n`) : chunk;
    }
  }
}

/** True for a taken pod whose supervisor will start the attempt. */
function isStarting({ metadata, status }: Pod): boolean {
  return metadata.deletionTimestamp === undefined && (status?.phase ?? "Pending") === "Pending";
}

function isIdle({ metadata }: Pod): boolean {
  return metadata.labels?.[WARM_STATE_LABEL] === "idle" && metadata.labels[WARM_MODE_LABEL] === "reused";
}

function isOfOthers({ metadata }: Pod): boolean {
  return (
    metadata.annotations?.[RIVAL] !== undefined || decodeAttemptAnnotation({ metadata } as Pod)?.generatedName === SUCCESSOR.generatedName
  );
}
