import type { ManualTime } from "@flyte-ts/async/manual-time";
import { type KubeObject, type PatchOptions, PODS, type ResourceRef } from "@flyte-ts/kubernetes";
import { buildPod, type Pod } from "@flyte-ts/pod-task";
import { WARM_POOL_ANNOTATION, warmStart } from "@flyte-ts/pod-task/warm";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { idlePod } from "../warm/idle-pod.js";
import { type TakenPod, WarmPool } from "../warm/pool.js";
import { isReservation } from "../warm/reservations.js";
import { warmPodSettings } from "../warm/settings.js";
import { config, logger, podRequest, PodWorld } from "./pod-world.js";

/** Mistakes with warm pods, which the simulation has to find. */
export type WarmMistake =
  | "takesAnyVersion"
  | "leavesEarlierTakes"
  | "forgetsUnansweredTakes"
  | "ignoresEarlierCreations"
  | "reservesNothing";

/** Late calls of the simulated cluster take effect within this time, ms. */
const SETTLES_WITHIN_MS = 3_000;
const settings = warmPodSettings.parse({ enabled: true, rules: [{}], minIdle: 2, keepMs: 600_000 });

/** A request of a task that can take a warm pod. */
export function warmRequest(over: Partial<TaskRequest> = {}): TaskRequest {
  const request = podRequest(over);
  const container = request.template?.target;
  if (container?.case === "container") container.value.args = ["pyflyte-execute", "--inputs", "{{.input}}"];
  return request;
}

/** A simulated cluster with pods that an earlier process has started ahead. */
export class WarmWorld extends PodWorld {
  /** @param settlesWithinMs time within which calls of an earlier process may take effect */
  constructor(
    private readonly mistake?: WarmMistake,
    settlesWithinMs = mistake === "ignoresEarlierCreations" ? 0 : SETTLES_WITHIN_MS,
  ) {
    super({ creationSettlesWithinMs: settlesWithinMs });
    if (mistake === "takesAnyVersion") this.#dropVersions();
    if (mistake === "leavesEarlierTakes") this.#pretendTakeOver();
    if (mistake === "reservesNothing") this.#pretendReservations();
  }

  /** No earlier process than the first has calls that may take effect. */
  readonly quietMs = SETTLES_WITHIN_MS;

  override request = (): TaskRequest => warmRequest();

  protected override warmPool(clock: ManualTime): WarmPool {
    if (this.cluster.creations.size === 0) this.#startAhead(2);
    else this.#rotatePods();
    const deps = { client: this.cluster, clock, logger, settings };
    return this.mistake === "forgetsUnansweredTakes" ? new ForgetfulPool(deps) : new WarmPool(deps);
  }

  #startAhead(count: number): void {
    const request = warmRequest();
    const start = warmStart(buildPod(request, { config: config.pods }), request, { python: "python3", maxIdleSeconds: 1_800 });
    if (start === undefined) throw new Error("the task of the simulation cannot take a warm pod");
    for (let i = 0; i < count; i++) void this.cluster.create(PODS, idlePod(start, { name: `warm-${i}`, pool: "earlier" }));
  }

  /** Lets a new process choose another pod first: a late take of the earlier one is of its own. */
  #rotatePods(): void {
    const [first] = this.cluster.pods;
    if (first === undefined) return;
    this.cluster.pods.delete(first[0]);
    this.cluster.pods.set(...first);
  }

  /** Takes the current version for the one that the caller knows. */
  #dropVersions(): void {
    const patch = this.cluster.mergePatch.bind(this.cluster);
    this.cluster.mergePatch = <T extends KubeObject>(ref: ResourceRef, { body, ...options }: PatchOptions): Promise<T> => {
      const { metadata } = body as { metadata: object };
      return patch<T>(ref, { ...options, body: { metadata: { ...metadata, resourceVersion: undefined } } });
    };
  }

  /** Answers creations of reservations without an effect. */
  #pretendReservations(): void {
    const create = this.cluster.create.bind(this.cluster);
    this.cluster.create = <T extends KubeObject>(ref: ResourceRef, object: KubeObject): Promise<T> =>
      isReservation(object as Pod) ? Promise.resolve(object as T) : create<T>(ref, object);
  }

  /** Takes pods of earlier processes over without a change that would stop the takes of those. */
  #pretendTakeOver(): void {
    const patch = this.cluster.mergePatch.bind(this.cluster);
    this.cluster.mergePatch = async <T extends KubeObject>(ref: ResourceRef, options: PatchOptions): Promise<T> => {
      const { metadata } = options.body as { metadata: { annotations: Record<string, string | null> } };
      const pool = metadata.annotations[WARM_POOL_ANNOTATION];
      const pod = await this.cluster.get<Pod>(ref, options);
      if (typeof pool !== "string" || pod === undefined) return patch<T>(ref, options);
      const annotations = { ...pod.metadata.annotations, [WARM_POOL_ANNOTATION]: pool };
      return { ...pod, metadata: { ...pod.metadata, annotations } } as unknown as T;
    };
  }
}

/** Forgets a take whose answer was lost. */
class ForgetfulPool extends WarmPool {
  override unknownTake(): undefined {
    return undefined;
  }

  override take(request: TaskRequest, start: Parameters<WarmPool["take"]>[1]): Promise<TakenPod | undefined> {
    this.release(request, 0);
    return super.take(request, start);
  }
}
