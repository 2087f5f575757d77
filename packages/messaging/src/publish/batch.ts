import { headers, type MsgHdrs } from "@nats-io/transport-node";

// Batches messages of one subject into one: the server and both ends pay the cost of one message
// for all of them.

/** Header that marks a batch; its value is the number of messages in it. */
export const BATCH_HEADER = "Flyte-Bundle";

const LENGTH_BYTES = 4;

/** Concatenates the messages, each after its length (32 bits, big-endian). */
export function encodeBatch(messages: readonly Uint8Array[]): { readonly data: Uint8Array; readonly headers: MsgHdrs } {
  const data = Buffer.allocUnsafe(messages.reduce((sum, { length }) => sum + LENGTH_BYTES + length, 0));
  let at = 0;
  for (const message of messages) {
    at = data.writeUInt32BE(message.length, at);
    data.set(message, at);
    at += message.length;
  }
  const batchHeaders = headers();
  batchHeaders.set(BATCH_HEADER, String(messages.length));
  return { data, headers: batchHeaders };
}

/**
 * Reverses `encodeBatch`; undefined when the lengths do not add up, or there are more than
 * `maxMessages` messages.
 */
export function decodeBatch(data: Uint8Array, maxMessages = Number.POSITIVE_INFINITY): readonly Uint8Array[] | undefined {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  const messages: Uint8Array[] = [];
  let at = 0;
  while (at < bytes.length) {
    if (at + LENGTH_BYTES > bytes.length) return undefined;
    const end = at + LENGTH_BYTES + bytes.readUInt32BE(at);
    if (end > bytes.length || messages.length === maxMessages) return undefined;
    messages.push(data.subarray(at + LENGTH_BYTES, end));
    at = end;
  }
  return messages;
}
