import { parseTableCursor } from "../node-table/cursor.js";
import type { TableMessage } from "../node-table/encode-chunk.js";
import { sendMessages } from "../node-table/send-messages.js";
import type { TableRequest } from "../node-table/watch-node-table.js";
import type { StreamLimiter } from "../stream-limiter.js";
import type { ItemTableKey } from "./item-table.js";
import type { ItemTables } from "./item-tables.js";

export interface ItemTableOptions {
  readonly tables: ItemTables;
  readonly streams: StreamLimiter;
  readonly signal: AbortSignal;
}

/**
 * Streams the items of an array node as columns, or the changes since the cursor, then every change
 * until the node or the requested attempt has ended.
 *
 * @throws RpcError INVALID_ARGUMENT for a malformed cursor; NOT_FOUND for a node without the
 *   attempt; UNAVAILABLE when this process stops or the node begins another attempt.
 */
export async function* watchItemTable(
  { tables, streams, signal }: ItemTableOptions,
  key: ItemTableKey,
  { cursor: cursorText, noFollow }: TableRequest,
): AsyncGenerator<TableMessage> {
  const cursor = parseTableCursor(cursorText);
  const stream = streams.open(signal);
  try {
    const handle = tables.acquire(key);
    try {
      yield* sendMessages(handle, { cursor, noFollow, stream });
    } finally {
      handle.release();
    }
  } finally {
    stream.close();
  }
}
