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

/** A message as it came. */
export class Unopened {
  constructor(readonly message: Delivered) {}
}

/** Puts a part of a message aside; `index` is its place, undefined for the whole. Resolves when that is done. */
export type PutAside = (data: Uint8Array, index: number | undefined, reason: string) => Promise<void>;

/** Pause before a message comes again that could not be put aside, ms. */
const AGAIN_MS = 5_000;

/**
 * The messages that came as one. They are acknowledged as one when the last of them is settled; all come again when one is to:
 * whoever takes messages gets some twice anyway.
 *
 * @throws Unfoldable when it is not unpacked: it is damaged, or exceeds a limit.
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

/** Settles the whole when so many have been settled; `refusedFor` in ms when it is to come again. */
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
