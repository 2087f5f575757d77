import type { ExecutionName } from "../../model/identifier.js";
import type { FeedHandle } from "../feed-registry.js";
import type { StreamLimiter } from "../stream-limiter.js";
import { parseTableCursor } from "./cursor.js";
import type { TableMessage } from "./encode-chunk.js";
import type { NodeTableFeeds } from "./feed-source.js";
import { sendMessages, type WatchedTable } from "./send-messages.js";
import type { TableFeed } from "./table-feed.js";

export interface NodeTableOptions {
  readonly feeds: NodeTableFeeds;
  readonly streams: StreamLimiter;
  readonly signal: AbortSignal;
}

export interface TableRequest {
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
  { cursor: cursorText, noFollow }: TableRequest,
): AsyncGenerator<TableMessage> {
  const cursor = parseTableCursor(cursorText);
  const stream = streams.open(signal);
  try {
    const handle = await feeds.acquire(name);
    try {
      // A single answer is no older than its call.
      if (noFollow && handle.isOld) await handle.refresh();
      yield* sendMessages(watchedTable(handle), { cursor, noFollow, stream });
    } finally {
      handle.release();
    }
  } finally {
    stream.close();
  }
}

function watchedTable(handle: FeedHandle<TableFeed>): WatchedTable {
  return {
    messages: handle.feed.messages,
    waiters: handle.waiters,
    get failure() {
      return handle.failure;
    },
    get heartbeats() {
      return handle.heartbeats;
    },
    isComplete: () => handle.isComplete(),
  };
}
