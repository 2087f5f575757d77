import type { JsMsg } from "@nats-io/jetstream";
import type { MsgHdrs } from "@nats-io/transport-node";
import type { BusMessage } from "../bus.js";
import { BATCH_HEADER, decodeBatch } from "../publish/batch.js";
import { UnpackError, decompress } from "../publish/compression.js";
import { MAX_RECEIVED_BATCH_MESSAGES } from "../limits.js";

export type Delivery = Pick<JsMsg, "subject" | "data" | "ack" | "nak"> & {
  readonly headers?: MsgHdrs | undefined;
  readonly seq: number;
  readonly info: { readonly deliveryCount: number };
};

/** A message that is not decompressed yet. */
export class PackedDelivery {
  constructor(readonly message: Delivery) {}
}

/**
 * Stores a part of a message as a dead letter; `index` is its index in the batch, undefined for a
 * single message. Resolves when it is stored.
 */
export type StoreDeadLetter = (data: Uint8Array, index: number | undefined, reason: string) => Promise<void>;

/** Delay before redelivery of a message whose dead letter could not be stored, ms. */
const REDELIVERY_DELAY_MS = 5_000;

/**
 * Splits a delivery into its messages. It is acknowledged when the last of them is settled, and
 * redelivered whole when one is refused: handlers receive messages more than once anyway.
 *
 * @throws UnpackError when it is damaged or exceeds a limit.
 */
export function unpackDelivery(message: Delivery, storeDeadLetter: StoreDeadLetter): readonly BusMessage[] {
  const { subject } = message;
  const deliveries = message.info.deliveryCount;
  const batch = batchMessages(message);
  const acknowledge = acknowledgeWhenAllSettled(message, batch?.length ?? 1);
  const busMessage = (data: Uint8Array, index: number | undefined): BusMessage => {
    let settled = false;
    const settleOnce = (nakDelayMs?: number): void => {
      if (settled) return;
      settled = true;
      acknowledge(nakDelayMs);
    };
    return {
      subject,
      data,
      deliveries,
      ack: () => settleOnce(),
      nak: (delayMs = 0) => settleOnce(delayMs),
      discard: (reason) => {
        if (settled) return;
        storeDeadLetter(data, index, reason).then(
          () => settleOnce(),
          () => settleOnce(REDELIVERY_DELAY_MS),
        );
      },
    };
  };
  return batch === undefined ? [busMessage(decompress(message), undefined)] : batch.map(busMessage);
}

function batchMessages(message: Delivery): readonly Uint8Array[] | undefined {
  if (message.headers?.has(BATCH_HEADER) !== true) return undefined;
  const messages = decodeBatch(message.data, MAX_RECEIVED_BATCH_MESSAGES);
  if (messages === undefined || messages.length === 0) throw new UnpackError(`is no batch of 1 to ${MAX_RECEIVED_BATCH_MESSAGES} messages`);
  return messages;
}

/**
 * Settles the delivery once `count` messages are settled; `nakDelayMs` is the delay of a
 * redelivery, ms.
 */
function acknowledgeWhenAllSettled(message: Delivery, count: number): (nakDelayMs?: number) => void {
  let unsettled = count;
  let redelivery: { delayMs: number } | undefined;
  return (nakDelayMs) => {
    if (nakDelayMs !== undefined) redelivery = { delayMs: Math.max(redelivery?.delayMs ?? 0, nakDelayMs) };
    if (--unsettled > 0) return;
    if (redelivery === undefined) message.ack();
    else message.nak(redelivery.delayMs);
  };
}
