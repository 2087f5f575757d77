import { Code, RpcError } from "@flyte-ts/rpc";
import type { ExecutionName } from "../../model/identifier.js";
import type { StreamLimiter } from "../stream-limiter.js";
import type { Message } from "./chunk.js";
import { type Cursor, readCursor } from "./cursor.js";
import type { FeedHandle } from "../feed-registry.js";
import type { Feed } from "./feed.js";
import type { WatchFeeds } from "./feed-source.js";
import { isAtLeast } from "../../store/watch/snapshot.js";

export interface WatchOptions {
  readonly feeds: WatchFeeds;
  readonly streams: StreamLimiter;
  readonly signal: AbortSignal;
}

/**
 * Streams the state of an execution, or the changes since the cursor, then every change until it is
 * over.
 *
 * @throws RpcError NOT_FOUND; UNAVAILABLE when this process stops: the client resumes at another
 *   replica.
 */
export async function* watchExecution(
  { feeds, streams, signal }: WatchOptions,
  name: ExecutionName,
  cursorText: string,
): AsyncGenerator<Message> {
  const cursor = readCursor(cursorText);
  if (cursorText !== "" && cursor === undefined)
    throw new RpcError(Code.INVALID_ARGUMENT, "invalid value for cursor: it must come from an earlier message");
  const stream = streams.open(signal);
  try {
    const handle = await feeds.acquire(name);
    try {
      yield* sendChanges(handle, cursor, stream);
    } finally {
      handle.release();
    }
  } finally {
    stream.close();
  }
}

async function* sendChanges(
  handle: FeedHandle<Feed>,
  cursor: Cursor | undefined,
  stream: ReturnType<StreamLimiter["open"]>,
): AsyncGenerator<Message> {
  const { feed, waiters } = handle;
  // The cursor comes from a replica that has read a newer state than this one.
  if (cursor !== undefined && !isAtLeast(feed.at, cursor.at)) await handle.refresh();
  const joined = feed.join(cursor);
  let sent = cursor === undefined || !cursor.ended;
  for (const message of joined.messages) {
    stream.check();
    sent = true;
    yield message;
  }
  let { sequence } = joined;
  for (let heartbeats = handle.heartbeats; ; ) {
    stream.check();
    if (handle.failure !== undefined) throw handle.failure;
    const next = feed.next(sequence);
    if (next !== undefined) {
      sequence = next.sequence;
      sent = true;
      yield next.message;
    } else if (handle.isComplete()) {
      // A watcher whose cursor includes the end of the stream gets no message.
      if (sent) yield feed.end();
      return;
    } else if (heartbeats !== handle.heartbeats) {
      heartbeats = handle.heartbeats;
      yield feed.heartbeat();
    } else await stream.wait(waiters);
  }
}
