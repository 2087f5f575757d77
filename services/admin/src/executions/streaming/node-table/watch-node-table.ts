import { Code, RpcError } from "@flyte-ts/rpc";
import type { ExecutionName } from "../../model/identifier.js";
import type { FeedHandle } from "../feed-registry.js";
import type { OpenStream, StreamLimiter } from "../stream-limiter.js";
import { readTableCursor, type TableCursor } from "./cursor.js";
import type { TableMessage } from "./encode-chunk.js";
import type { NodeTableFeeds } from "./feed-source.js";
import type { TableFeed } from "./table-feed.js";

export interface NodeTableOptions {
  readonly feeds: NodeTableFeeds;
  readonly streams: StreamLimiter;
  readonly signal: AbortSignal;
}

export interface NodeTableRequest {
  readonly cursor: string;
  readonly noFollow: boolean;
}

/**
 * Streams the nodes of an execution as columns, or the changes since the cursor, then every change
 * until the execution is over.
 *
 * @throws RpcError INVALID_ARGUMENT for a malformed cursor; NOT_FOUND; UNAVAILABLE when this
 *   process stops: the client resumes at another replica.
 */
export async function* watchNodeTable(
  { feeds, streams, signal }: NodeTableOptions,
  name: ExecutionName,
  { cursor: cursorText, noFollow }: NodeTableRequest,
): AsyncGenerator<TableMessage> {
  const cursor = readTableCursor(cursorText);
  if (cursorText !== "" && cursor === undefined)
    throw new RpcError(Code.INVALID_ARGUMENT, "invalid value for cursor: it must come from an earlier message");
  const stream = streams.open(signal);
  try {
    const handle = await feeds.acquire(name);
    try {
      yield* sendChunks(handle, { cursor, noFollow, stream });
    } finally {
      handle.release();
    }
  } finally {
    stream.close();
  }
}

interface Watcher {
  readonly cursor: TableCursor | undefined;
  readonly noFollow: boolean;
  readonly stream: OpenStream;
}

async function* sendChunks(handle: FeedHandle<TableFeed>, { cursor, noFollow, stream }: Watcher): AsyncGenerator<TableMessage> {
  const { feed, waiters } = handle;
  let position = feed.positionOf(cursor);
  let sent = cursor === undefined || !cursor.ended;
  for (let heartbeats = handle.heartbeats; ; ) {
    stream.check();
    if (handle.failure !== undefined) throw handle.failure;
    const next = feed.next(position);
    if (next !== undefined) {
      position = next.position;
      sent = true;
      yield next.message;
      if (noFollow && position.complete) return;
    } else if (handle.isComplete()) {
      // A watcher whose cursor includes the end of the stream gets no message.
      if (sent) yield feed.end(position);
      return;
    } else if (noFollow && position.complete) return;
    else if (heartbeats !== handle.heartbeats) {
      heartbeats = handle.heartbeats;
      yield feed.heartbeat(position);
    } else await stream.wait(waiters);
  }
}
