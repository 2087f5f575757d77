import type { JsMsg } from "@nats-io/jetstream";
import type { BusMessage } from "./bus.js";
import { BUNDLE_HEADER, decodeBundle } from "./bundle.js";
import { unfolded } from "./large-message.js";

export type Delivered = Pick<JsMsg, "subject" | "data" | "headers" | "ack" | "nak"> & { readonly info: { readonly deliveryCount: number } };

/**
 * The messages that came as one. They are acknowledged as one when the last of them is settled; all come again when one is to:
 * whoever takes messages gets some twice anyway.
 */
export function toBusMessages(message: Delivered): readonly BusMessage[] {
  const parts = message.headers?.has(BUNDLE_HEADER) === true ? decodeBundle(message.data) : undefined;
  const { subject } = message;
  const deliveries = message.info.deliveryCount;
  if (parts === undefined) {
    return [{ subject, data: unfolded(message), deliveries, ack: () => message.ack(), nak: (delayMs) => message.nak(delayMs) }];
  }
  let open = parts.length;
  let again: { delayMs: number } | undefined;
  const settle = () => {
    if (--open > 0) return;
    if (again === undefined) message.ack();
    else message.nak(again.delayMs);
  };
  return parts.map((data) => {
    let settled = false;
    const once = (refusedFor?: number) => {
      if (settled) return;
      settled = true;
      if (refusedFor !== undefined) again = { delayMs: Math.max(again?.delayMs ?? 0, refusedFor) };
      settle();
    };
    return { subject, data, deliveries, ack: () => once(), nak: (delayMs = 0) => once(delayMs) };
  });
}
