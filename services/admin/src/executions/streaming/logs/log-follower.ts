import { setTimeout as sleep } from "node:timers/promises";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { FollowLogRequest, FollowLogResponseSchema } from "@flyte-ts/idl/flytets/admin/v1/live_pb";
import { isTransient, KubeError } from "@flyte-ts/kubernetes";
import { Code, RpcError } from "@flyte-ts/rpc";
import type { ExecutionsDeps } from "../../deps.js";
import { type Cluster, findCluster } from "../../../clusters/index.js";
import { invalidArgument, namespaceOf, notFound } from "../../../platform/index.js";
import { checkNodeId, describeNode, type NodeId } from "../../model/identifier.js";
import type { OpenStream, StreamLimiter } from "../stream-limiter.js";
import type { FeedHandle } from "../feed-registry.js";
import type { Feed } from "../watch/feed.js";
import type { WatchFeeds } from "../watch/feed-source.js";
import { readArchived } from "./archived-log.js";
import { findAttempt, type LoggedAttempt, noLogReason } from "./find-attempt.js";
import { type LogCursor, readLogCursor, writeLogCursor } from "./log-cursor.js";
import { LineSplitter, type StampedLine, LineDeduplicator } from "./line-dedup.js";
import { findPod, type LoggedPod, type SoughtPod } from "./pod.js";
import { AttemptLines } from "./tagged-lines.js";

type Response = MessageInitShape<typeof FollowLogResponseSchema>;

export interface FollowDeps extends Pick<ExecutionsDeps, "db" | "clusters" | "config" | "blobs"> {
  readonly feeds: WatchFeeds;
  readonly streams: StreamLimiter;
}

/** Retry interval, ms, while the pod does not exist yet or its data plane is unavailable. */
const RETRY_MS = 1_000;
/** Lines of an archived log per message. */
const LINES_PER_MESSAGE = 500;
/** Maximum of lines that a request may ask for before the first line. */
const MAX_END_LINES = 1_000;
/** Maximum of characters of these lines, which are one message. */
const MAX_END_CHARACTERS = 1024 * 1024;
/** Maximum of consecutive attempts while a data plane is unavailable. */
const MAX_ATTEMPTS = 5;

/**
 * Streams the log of a task attempt: the existing lines, then new ones until its container has
 * ended.
 *
 * @throws RpcError NOT_FOUND when there is no log, or no longer one; UNAVAILABLE when this process
 *   stops or the data
 * plane is unavailable.
 */
export async function* followLog(deps: FollowDeps, request: FollowLogRequest, signal: AbortSignal): AsyncGenerator<Response> {
  const { id } = request;
  checkNodeId(id);
  const cursor = readLogCursor(request.cursor);
  if (request.cursor !== "" && cursor === undefined)
    throw invalidArgument("invalid value for cursor: it must come from an earlier message");
  if (request.endLines > MAX_END_LINES) throw invalidArgument(`invalid value for end_lines: it must be at most ${MAX_END_LINES}`);
  const stream = deps.streams.open(signal);
  try {
    const used = await deps.feeds.acquire(id.executionId);
    try {
      yield* new LogFollower({ deps, request, id, stream }, cursor).run(used);
    } catch (error) {
      // Throws the reason why the stream must end, which takes precedence over the error of the
      // aborted request.
      stream.check();
      throw error;
    } finally {
      used.release();
    }
  } finally {
    stream.close();
  }
}

interface FollowRequest {
  readonly deps: FollowDeps;
  readonly request: FollowLogRequest;
  readonly id: NodeId;
  readonly stream: OpenStream;
}

/** A log to read from its position on. */
interface ReadLog {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
  readonly attempt: number;
  readonly over: boolean;
  readonly tag: string | undefined;
}

type LogReader = Pick<Cluster["kube"], "podLog">;

/** A container of a pod; with a tag only the lines of one attempt. */
interface ContainerPlace {
  readonly namespace: string;
  readonly name: string;
  readonly container: string;
  readonly tag: string | undefined;
}

class LogFollower {
  readonly #request: FollowRequest;
  readonly #cursor: LogCursor | undefined;
  readonly #unsent: LineDeduplicator;
  #hasSent = false;
  /** The attempt has ended in a pod that goes on. */
  #isOver = false;
  /** Number of lines to send before the first line; 0 once they are sent. */
  #endLines: number;

  constructor(followRequest: FollowRequest, cursor: LogCursor | undefined) {
    this.#request = followRequest;
    this.#cursor = cursor;
    this.#endLines = cursor === undefined ? followRequest.request.endLines : 0;
    this.#unsent = new LineDeduplicator(cursor?.position);
  }

  async *run(used: FeedHandle<Feed>): AsyncGenerator<Response> {
    const { deps, request, id } = this.#request;
    let attempt = await this.#attempt(used);
    const cluster = findCluster(deps.clusters, attempt.cluster);
    if (cluster === undefined) throw new RpcError(Code.UNAVAILABLE, `the data plane of ${describeNode(id)} cannot be reached`);
    const namespace = namespaceOf(deps.config.namespaceTemplate, id.executionId.project, id.executionId.domain);
    for (;;) {
      const pod = await this.#pod(cluster, { namespace, name: attempt.pod, generatedName: attempt.generatedName });
      if (pod === undefined) {
        const now = await this.#found();
        // The attempt took a warm pod after the stream began.
        if (now?.pod !== undefined && now.pod !== attempt.pod && !this.#hasSent && this.#cursor === undefined) {
          attempt = { ...now, pod: now.pod };
          continue;
        }
        if (now !== undefined && now.archived.length > 0) return yield* this.#sendArchived({ ...now, pod: attempt.pod });
        if (this.#hasSent || request.noFollow || (now?.ended ?? true))
          throw notFound(`the log of ${describeNode(id)} does not exist: its pod ${attempt.pod} was deleted`);
        await this.#pause();
        continue;
      }
      const container = request.container || this.#cursor?.container || pod.primary;
      if (!pod.containers.includes(container)) {
        throw invalidArgument(
          `invalid value for container: pod ${attempt.pod} has no container ${container}, only ${pod.containers.join(", ")}`,
        );
      }
      // Determined before the read: if the container has ended, the read then includes every line.
      const over = this.#isOver || pod.isOver(container);
      // Logs of pods that serve many attempts are soon rotated.
      const kept = over && pod.tag !== undefined ? await this.#found() : undefined;
      if (kept !== undefined && kept.archived.length > 0) return yield* this.#sendArchived({ ...kept, pod: attempt.pod });
      const place = { attempt: attempt.attempt, pod: attempt.pod, container };
      yield* this.#read(cluster, { ...place, namespace, over, tag: pod.tag });
      if (over || request.noFollow) {
        yield { cursor: this.#cursorAt(place), attempt: attempt.attempt, ended: over };
        return;
      }
      await this.#pause();
    }
  }

  /** Waits for an attempt with a pod. */
  async #attempt(used: FeedHandle<Feed>): Promise<LoggedAttempt & { readonly pod: string }> {
    const { deps, request, id, stream } = this.#request;
    const cursor = this.#cursor;
    const requested = { attempt: cursor?.attempt ?? request.attempt, item: request.item };
    for (;;) {
      stream.check();
      const found = await findAttempt(deps.db, id, requested);
      if (found?.pod !== undefined && (cursor === undefined || cursor.pod === found.pod)) return { ...found, pod: found.pod };
      if (cursor !== undefined) throw invalidArgument("invalid value for cursor: it is of another attempt or item");
      const over = found?.ended ?? used.isComplete();
      if (over || request.noFollow) throw notFound(await noLogReason(deps.db, id, requested));
      if (used.failure !== undefined) throw used.failure;
      await stream.wait(used.waiters);
    }
  }

  #found(): Promise<LoggedAttempt | undefined> {
    const { deps, request, id } = this.#request;
    return findAttempt(deps.db, id, { attempt: this.#cursor?.attempt ?? request.attempt, item: request.item });
  }

  /** Streams the archived log. */
  async *#sendArchived({ archived, attempt, pod }: LoggedAttempt & { readonly pod: string }): AsyncGenerator<Response> {
    const { deps, request } = this.#request;
    const container = request.container || this.#cursor?.container || pod;
    // The container of a pod spec may have another name than its pod; the first one is the task's.
    const log = archived.find((each) => each.container === container) ?? (request.container === "" ? archived[0] : undefined);
    if (log === undefined) {
      throw invalidArgument(
        `invalid value for container: the log of ${container} is not archived, only ${archived.map((each) => each.container).join(", ")}`,
      );
    }
    const lines = await readArchived(deps.blobs, log);
    if (this.#endLines > 0) yield { endLines: shortened(lines.slice(-this.#endLines)), attempt };
    const { tailLines } = request;
    if (tailLines !== undefined && this.#unsent.position === undefined && lines.length > 0) {
      this.#unsent.seekToTail({ tail: lines.slice(-Math.max(1, tailLines)), after: tailLines === 0 }, lines);
    }
    this.#unsent.restart();
    const since = this.#unsent.since;
    const first = since === undefined ? 0 : lines.findIndex(({ time }) => Date.parse(time) >= since.getTime());
    const place = { attempt, pod, container: log.container };
    for (let from = first === -1 ? lines.length : first; from < lines.length; from += LINES_PER_MESSAGE) {
      const news = this.#unsent.filterNew(lines.slice(from, from + LINES_PER_MESSAGE));
      if (news.length > 0) yield { cursor: this.#cursorAt(place), lines: news, attempt };
    }
    yield { cursor: this.#cursorAt(place), attempt, ended: true };
  }

  async #pod(cluster: Cluster, sought: Omit<SoughtPod, "execution">): Promise<LoggedPod | undefined> {
    for (let attempts = 1; ; attempts++) {
      try {
        return await findPod(cluster.kube, { ...sought, execution: this.#request.id.executionId.name });
      } catch (error) {
        if (!isTransient(error) || attempts === MAX_ATTEMPTS) throw unavailable(error);
        await this.#pause();
      }
    }
  }

  /**
   * For a request of the last lines: sets the position before the first of them, for a later
   * resume.
   */
  async #seekToTail(kube: LogReader, where: ContainerPlace): Promise<void> {
    const { tailLines } = this.#request.request;
    if (tailLines === undefined || this.#unsent.position !== undefined) return;
    const tail = await this.#collectTail(kube, where, Math.max(1, tailLines));
    const since = firstSecond(tail);
    if (since !== undefined) this.#unsent.seekToTail({ tail, after: tailLines === 0 }, await this.#collect(kube, where, { since }));
  }

  /** Reads the end of a log, once for each stream that asks for it. */
  async #readEnd(kube: LogReader, where: ContainerPlace): Promise<StampedLine[]> {
    const tailLines = this.#endLines;
    this.#endLines = 0;
    return tailLines === 0 ? [] : shortened(await this.#collectTail(kube, where, tailLines));
  }

  /** Reads the last lines: of the whole log where lines of other attempts may follow. */
  async #collectTail(kube: LogReader, where: ContainerPlace, count: number): Promise<StampedLine[]> {
    return where.tag === undefined
      ? this.#collect(kube, where, { tailLines: count })
      : (await this.#collect(kube, where, {})).slice(-count);
  }

  async #collect(
    kube: LogReader,
    { tag, ...where }: ContainerPlace,
    part: { readonly tailLines?: number; readonly since?: Date },
  ): Promise<StampedLine[]> {
    const splitter = new LineSplitter();
    const lines: StampedLine[] = [];
    for await (const bytes of kube.podLog({ ...where, ...part, follow: false, signal: this.#request.stream.signal }))
      lines.push(...splitter.add(bytes));
    return [...new AttemptLines(tag).select([...lines, ...splitter.end()])];
  }

  async *#read({ kube }: Pick<Cluster, "kube">, { namespace, pod, container, attempt, over, tag }: ReadLog): AsyncGenerator<Response> {
    const { request, stream } = this.#request;
    const splitter = new LineSplitter();
    const unsent = this.#unsent;
    const own = new AttemptLines(tag);
    const send = (lines: readonly StampedLine[]): Response | undefined => {
      const news = unsent.filterNew(own.select(lines));
      this.#isOver ||= own.isOver;
      this.#hasSent ||= news.length > 0;
      return news.length === 0 ? undefined : { cursor: this.#cursorAt({ attempt, pod, container }), lines: news, attempt };
    };
    try {
      const follow = !over && !request.noFollow;
      const log = { namespace, name: pod, container };
      const place = { ...log, tag };
      const endLines = await this.#readEnd(kube, place);
      if (endLines.length > 0) yield { endLines, attempt };
      await this.#seekToTail(kube, place);
      unsent.restart();
      for await (const part of kube.podLog({
        ...log,
        follow,
        since: unsent.since,
        signal: stream.signal,
      })) {
        const message = send(splitter.add(part));
        if (message !== undefined) yield message;
        if (own.isOver && follow) return;
      }
    } catch (error) {
      stream.check();
      // The container has not started to write (400), its pod was just deleted (404), or its data
      // plane is unavailable: the next check of the pod shows which.
      if (!over && (isTransient(error) || (error instanceof KubeError && (error.status === 400 || error.status === 404)))) return;
      throw unavailable(error);
    }
    // A last line without a line end may be incomplete until the container has ended.
    const last = over ? send(splitter.end()) : undefined;
    if (last !== undefined) yield last;
  }

  #cursorAt(where: Omit<LogCursor, "position">): string {
    return writeLogCursor({ ...where, position: this.#unsent.position });
  }

  async #pause(): Promise<void> {
    const { stream } = this.#request;
    await sleep(RETRY_MS, undefined, { signal: stream.signal }).catch(() => stream.check());
  }
}

/** Returns the last of these lines that one message may have. */
function shortened(lines: readonly StampedLine[]): StampedLine[] {
  let characters = 0;
  const from = lines.findLastIndex(({ text }) => (characters += text.length) > MAX_END_CHARACTERS);
  return lines.slice(from + 1);
}

/** Returns the earliest second of these lines. */
function firstSecond(lines: readonly StampedLine[]): Date | undefined {
  const times = lines.map(({ time }) => Date.parse(time)).filter((time) => !Number.isNaN(time));
  return times.length === 0 ? undefined : new Date(Math.floor(Math.min(...times) / 1000) * 1000);
}

function unavailable(error: unknown): unknown {
  if (!(error instanceof KubeError)) return error;
  if (error.status === 404 || error.status === 400) return notFound(`the log does not exist: ${error.message}`);
  return new RpcError(Code.UNAVAILABLE, "the log cannot be read from the data plane, try again", { cause: error });
}
