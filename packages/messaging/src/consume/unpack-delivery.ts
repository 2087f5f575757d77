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

  get seq(): number {
    return this.message.seq;
  }

  nak(): void {
    this.message.nak();
  }
}

/** A message of a delivery, with the delivery's sequence in its stream. */
export interface UnpackedMessage extends BusMessage {
  readonly seq: number;
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
 * @param acknowledge acknowledges the delivery, now or soon
 * @throws UnpackError when it is damaged or exceeds a limit.
 */
export function unpackDelivery(
  message: Delivery,
  storeDeadLetter: StoreDeadLetter,
  acknowledge: (message: Delivery) => void,
): readonly UnpackedMessage[] {
  const { subject, seq } = message;
  const deliveries = message.info.deliveryCount;
  const batch = batchMessages(message);
  const delivery = { subject, seq, deliveries, storeDeadLetter, settle: settleWhenAllSettled(message, batch?.length ?? 1, acknowledge) };
  if (batch === undefined) return [new DeliveredMessage(delivery, decompress(message), undefined)];
  return batch.map((data, index) => new DeliveredMessage(delivery, data, index));
}

/** Facts and callbacks that the messages of a delivery share. */
interface SharedDelivery {
  readonly subject: string;
  readonly seq: number;
  readonly deliveries: number;
  readonly storeDeadLetter: StoreDeadLetter;
  /** Settles one message: it was handled, or the bus delivers it again after a delay, ms. */
  readonly settle: (nakDelayMs?: number) => void;
}

/** A message of a delivery: an object without closures, because very many are in memory at once. */
class DeliveredMessage implements UnpackedMessage {
  #settled = false;

  constructor(
    private readonly delivery: SharedDelivery,
    readonly data: Uint8Array,
    private readonly index: number | undefined,
  ) {}

  get subject(): string {
    return this.delivery.subject;
  }

  get seq(): number {
    return this.delivery.seq;
  }

  get deliveries(): number {
    return this.delivery.deliveries;
  }

  ack(): void {
    this.#settle();
  }

  nak(delayMs = 0): void {
    this.#settle(delayMs);
  }

  discard(reason: string): void {
    if (this.#settled) return;
    this.delivery.storeDeadLetter(this.data, this.index, reason).then(
      () => this.#settle(),
      () => this.#settle(REDELIVERY_DELAY_MS),
    );
  }

  #settle(nakDelayMs?: number): void {
    if (this.#settled) return;
    this.#settled = true;
    this.delivery.settle(nakDelayMs);
  }
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
function settleWhenAllSettled(message: Delivery, count: number, acknowledge: (message: Delivery) => void): (nakDelayMs?: number) => void {
  let unsettled = count;
  let redelivery: { delayMs: number } | undefined;
  return (nakDelayMs) => {
    if (nakDelayMs !== undefined) redelivery = { delayMs: Math.max(redelivery?.delayMs ?? 0, nakDelayMs) };
    if (--unsettled > 0) return;
    if (redelivery === undefined) acknowledge(message);
    else message.nak(redelivery.delayMs);
  };
}
