import { resolvesWithin, type Time } from "@flyte-ts/async";
import { attemptLogTag } from "@flyte-ts/domain/name";
import { type KubeClient, objectKey } from "@flyte-ts/kubernetes";
import { decodeAttemptAnnotation, type Pod } from "@flyte-ts/pod-task";
import { type AttemptEnd, isEndOfPod, takeOf, withAttemptEnd } from "@flyte-ts/pod-task/warm";
import { isReady } from "../idle-pod.js";
import { EndMarkReader } from "./end-mark-reader.js";

export interface AttemptEndsDeps {
  readonly client: Pick<KubeClient, "podLog">;
  readonly clock: Time;
  /** Assigns the attempt of a pod again, for the `count`th time. */
  readonly repeatAssignment: (pod: Pod, count: number) => Promise<void>;
}

/** A take of a pod by an attempt, and its end once the log has shown it. */
interface FollowedTake {
  readonly take: string;
  readonly cancel: AbortController;
  /** Resolves once the log was read for the first time, or could not be. */
  readonly firstRead: PromiseWithResolvers<void>;
  /** The pod can start the attempt. */
  ready: boolean;
  /** The log has shown a line of the attempt. */
  started: boolean;
  end?: AttemptEnd;
}

const RETRY_MS = 500;
/** Maximum time to wait for the first lines of a log, ms. */
const FIRST_READ_MS = 1_000;
/** Times without a sign of the start after which an assignment is repeated, ms. */
const START_TIMEOUTS_MS = [2_000, 4_000, 8_000];
/**
 * Silence of a log after which it is opened again, ms. A supervisor repeats an end for longer than
 * that, so that a connection that hangs hides no end.
 */
const SILENCE_MS = 20_000;

/**
 * Ends of attempts in reused pods, whose containers go on. It follows the log of each taken pod
 * from its last line: the mark of an end is the last line of an attempt, so that a new process
 * finds it as well.
 */
export class AttemptEnds {
  readonly #takes = new Map<string, FollowedTake>();
  #onEnd: (pod: Pod) => void = () => undefined;

  constructor(private readonly deps: AttemptEndsDeps) {}

  /** @param onEnd called with the pod of each attempt that has ended */
  start(onEnd: (pod: Pod) => void): void {
    this.#onEnd = onEnd;
  }

  stop(): void {
    for (const key of this.#takes.keys()) this.#forget(key);
  }

  /** Follows the attempt of a pod that was seen, until its end or that of the pod. */
  observe(pod: Pod): void {
    const key = objectKey(pod);
    const take = takeOf(pod);
    const known = this.#takes.get(key);
    if (known !== undefined && known.take !== take) this.#forget(key);
    if (take === undefined || hasTerminated(pod)) return known?.cancel.abort();
    if (known?.take === take) return this.#onReady(pod, known);
    const followed: FollowedTake = {
      take,
      cancel: new AbortController(),
      firstRead: Promise.withResolvers<void>(),
      ready: false,
      started: false,
    };
    this.#takes.set(key, followed);
    void this.#follow(pod, followed);
    this.#onReady(pod, followed);
  }

  /** Ends the interest in a pod that is gone, or serves this attempt no more. */
  forget(pod: Pod): void {
    const key = objectKey(pod);
    if (this.#takes.get(key)?.take === takeOf(pod)) this.#forget(key);
  }

  /** The end of the attempt that has taken the pod, as the log shows it. */
  endOf(pod: Pod): AttemptEnd | undefined {
    const known = this.#takes.get(objectKey(pod));
    return known !== undefined && known.take === takeOf(pod) ? known.end : undefined;
  }

  /** True while the attempt has the pod, which can serve another one afterwards. */
  mayReturn(pod: Pod): boolean {
    const known = this.#takes.get(objectKey(pod));
    return known !== undefined && known.take === takeOf(pod) && !known.cancel.signal.aborted && known.end?.retires === undefined;
  }

  /**
   * Shows the pod of an attempt that has ended by itself as an ended one. An abort is told to those
   * who asked for it. The end of an attempt that was stopped with its pod is not shown: the status
   * of the pod or its deletion, also by the loss of its node, tells whether the node caused it.
   */
  apply<T extends Pod>(pod: T): T | Pod {
    const end = this.endOf(pod);
    return end === undefined || end.aborted || isEndOfPod(end) || hasTerminated(pod) ? pod : withAttemptEnd(pod, end);
  }

  /** Waits until the log was read once: another process may have seen the end before. */
  async firstRead(pod: Pod): Promise<void> {
    const known = this.#takes.get(objectKey(pod));
    if (known !== undefined && known.take === takeOf(pod)) await resolvesWithin(known.firstRead.promise, FIRST_READ_MS, this.deps.clock);
  }

  /** Waits for the end of the pod's attempt. */
  async waitFor(pod: Pod, ms: number): Promise<AttemptEnd | undefined> {
    this.observe(pod);
    const step = 20;
    for (let waited = 0; waited < ms && this.endOf(pod) === undefined; waited += step) await this.deps.clock.sleep(step);
    return this.endOf(pod);
  }

  #forget(key: string): void {
    this.#takes.get(key)?.cancel.abort();
    this.#takes.delete(key);
  }

  #onReady(pod: Pod, followed: FollowedTake): void {
    if (followed.ready || !isReady(pod)) return;
    followed.ready = true;
    void this.#awaitStart(pod, followed);
  }

  /**
   * Repeats the assignment while the log shows no start: a kubelet that misses a change of a pod
   * shows it to the container with its periodic sync, a minute later.
   */
  async #awaitStart(pod: Pod, followed: FollowedTake): Promise<void> {
    const { clock, repeatAssignment } = this.deps;
    const { signal } = followed.cancel;
    for (const [index, timeoutMs] of START_TIMEOUTS_MS.entries()) {
      await clock.sleep(timeoutMs, signal).catch(() => undefined);
      if (signal.aborted || followed.started) return;
      // A repetition that fails is followed by the next one.
      await repeatAssignment(pod, index + 1).catch(() => undefined);
    }
  }

  async #follow(pod: Pod, followed: FollowedTake): Promise<void> {
    const { signal } = followed.cancel;
    while (!signal.aborted) {
      const end = await this.#readEnd(pod, followed).catch(() => undefined);
      if (end !== undefined) followed.end = end;
      followed.firstRead.resolve();
      if (signal.aborted) return;
      if (end !== undefined) {
        this.#onEnd(pod);
        return;
      }
      await this.deps.clock.sleep(RETRY_MS, signal).catch(() => undefined);
    }
  }

  /** Reads the log until the mark, the end of the connection, or silence. */
  async #readEnd(pod: Pod, followed: FollowedTake): Promise<AttemptEnd | undefined> {
    const { client, clock } = this.deps;
    const { take, cancel } = followed;
    const { namespace = "", name } = pod.metadata;
    const [container] = pod.spec.containers;
    const { generatedName = "" } = decodeAttemptAnnotation(pod) ?? {};
    const reader = new EndMarkReader(attemptLogTag({ namespace, generatedName }), take);
    const silence = new AbortController();
    const listen = () => clock.schedule(SILENCE_MS, () => silence.abort());
    let cancelTimer = listen();
    try {
      const from = { namespace, name, container: container?.name ?? "", follow: true, tailLines: 1 };
      for await (const chunk of client.podLog({ ...from, signal: AbortSignal.any([cancel.signal, silence.signal]) })) {
        cancelTimer();
        cancelTimer = listen();
        const end = reader.add(chunk);
        followed.started ||= reader.hasStarted;
        if (end === undefined) followed.firstRead.resolve();
        if (end !== undefined) return end;
      }
      return undefined;
    } finally {
      cancelTimer();
      // The server keeps the stream open until then.
      silence.abort();
    }
  }
}

function hasTerminated({ status }: Pod): boolean {
  return status?.phase === "Succeeded" || status?.phase === "Failed" || status?.containerStatuses?.[0]?.state?.terminated !== undefined;
}
