import type { OpenStream } from "../stream-limiter.js";
import type { Waiters } from "../waiters.js";
import type { TableCursor } from "./cursor.js";
import type { TableMessage } from "./encode-chunk.js";
import type { TableMessages } from "./table-messages.js";

/** A table in use by a watcher. */
export interface WatchedTable {
  readonly messages: TableMessages;
  readonly waiters: Waiters;
  /** Set when the table has ended with an error. */
  readonly failure: Error | undefined;
  /** Counter that changes with each heartbeat. */
  readonly heartbeats: number;
  /** True when no change follows. */
  isComplete(): boolean;
}

export interface Watcher {
  /** Undefined: starts with the complete table. */
  readonly cursor: TableCursor | undefined;
  /** Ends after the message that completes the table. */
  readonly noFollow: boolean;
  readonly stream: OpenStream;
}

/** Sends a table, or its changes since the cursor, then every change until no more follow. */
export async function* sendMessages(table: WatchedTable, { cursor, noFollow, stream }: Watcher): AsyncGenerator<TableMessage> {
  const { messages, waiters } = table;
  let position = messages.positionOf(cursor);
  let sent = cursor === undefined || !cursor.ended;
  for (let { heartbeats } = table; ; ) {
    stream.check();
    if (table.failure !== undefined) throw table.failure;
    const next = messages.next(position);
    if (next !== undefined) {
      position = next.position;
      sent = true;
      yield next.message;
      if (noFollow && position.complete) return;
    } else if (table.isComplete()) {
      // A watcher whose cursor includes the end of the stream gets no message.
      if (sent) yield messages.end(position);
      return;
    } else if (noFollow && position.complete) return;
    else if (heartbeats !== table.heartbeats) {
      ({ heartbeats } = table);
      yield messages.heartbeat(position);
    } else await stream.wait(waiters);
  }
}
