import type { JsMsg } from "@nats-io/jetstream";
import type { MsgHdrs } from "@nats-io/transport-node";
import type { BusMessage } from "./bus.js";
import { BUNDLE_HEADER, decodeBundle } from "./bundle.js";
import { Unfoldable, unfolded } from "./large-message.js";
import { MOST_PARTS_TAKEN } from "./limits.js";

export type Delivered = Pick<JsMsg, "subject" | "data" | "ack" | "nak"> & {
  readonly headers?: MsgHdrs | undefined;
  readonly seq: number;
  readonly info: { readonly deliveryCount: number };
};

/** A message that is not decompressed yet. */
export class Unopened {
  constructor(readonly message: Delivered) {}
}

/**
 * Stores a part of a message as a dead letter; `index` is its place in the bundle, undefined for a single message.
 * Resolves when it is stored.
 */
export type PutAside = (data: Uint8Array, index: number | undefined, reason: string) => Promise<void>;

/** Delay before redelivery of a message whose dead letter could not be stored, ms. */
const AGAIN_MS = 5_000;

/**
 * Splits a delivery into its messages. It is acknowledged when the last of them is settled, and redelivered whole when
 * one is refused: handlers receive messages more than once anyway.
 *
 * @throws Unfoldable when it is damaged or exceeds a limit.
 */
export function toBusMessages(message: Delivered, putAside: PutAside): readonly BusMessage[] {
  const { subject } = message;
  const deliveries = message.info.deliveryCount;
  const parts = partsOf(message);
  const settle = settling(message, parts?.length ?? 1);
  const one = (data: Uint8Array, index: number | undefined): BusMessage => {
    let settled = false;
    const once = (refusedFor?: number): void => {
      if (settled) return;
      settled = true;
      settle(refusedFor);
    };
    return {
      subject,
      data,
      deliveries,
      ack: () => once(),
      nak: (delayMs = 0) => once(delayMs),
      discard: (reason) => {
        if (settled) return;
        putAside(data, index, reason).then(
          () => once(),
          () => once(AGAIN_MS),
        );
      },
    };
  };
  return parts === undefined ? [one(unfolded(message), undefined)] : parts.map(one);
}

function partsOf(message: Delivered): readonly Uint8Array[] | undefined {
  if (message.headers?.has(BUNDLE_HEADER) !== true) return undefined;
  const parts = decodeBundle(message.data, MOST_PARTS_TAKEN);
  if (parts === undefined || parts.length === 0) throw new Unfoldable(`is no bundle of 1 to ${MOST_PARTS_TAKEN} messages`);
  return parts;
}

/** Settles the delivery once `count` messages are settled; `refusedFor` is the delay of a redelivery, ms. */
function settling(message: Delivered, count: number): (refusedFor?: number) => void {
  let open = count;
  let again: { delayMs: number } | undefined;
  return (refusedFor) => {
    if (refusedFor !== undefined) again = { delayMs: Math.max(again?.delayMs ?? 0, refusedFor) };
    if (--open > 0) return;
    if (again === undefined) message.ack();
    else message.nak(again.delayMs);
  };
}
