import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { AckBuffer } from "./ack-buffer.js";

/** Many deliveries may be unacknowledged: acknowledgements wait. */
const MANY = 1_000;

function setUp() {
  const sent: number[] = [];
  const state = { closed: false };
  const acks = new AckBuffer(() => state.closed);
  const add = (id: number, maxUnacknowledged = MANY) => acks.add({ ack: () => void sent.push(id) }, maxUnacknowledged);
  return { sent, state, acks, add };
}

describe("acknowledgements", () => {
  it("are sent with the next message of the connection", () => {
    const { sent, acks, add } = setUp();
    add(1);
    add(2);
    expect(sent).toEqual([]);
    acks.flush();
    expect(sent).toEqual([1, 2]);
    acks.flush();
    expect(sent).toEqual([1, 2]);
  });

  it("are sent by themselves when no message follows", async () => {
    const { sent, add } = setUp();
    add(1);
    await expect.poll(() => sent).toEqual([1]);
    add(2);
    await expect.poll(() => sent).toEqual([1, 2]);
  });

  it("are sent at once when they are many", () => {
    const { sent, add } = setUp();
    for (let id = 1; id <= 70; id++) add(id);
    expect(sent).toHaveLength(64);
  });

  it.each([
    [1, 1],
    [4, 1],
    [8, 2],
  ])("wait for fewer others when a consumer may have at most %i unacknowledged deliveries: for %i", (maxUnacknowledged, held) => {
    const { sent, add } = setUp();
    for (let id = 1; id < held; id++) add(id, maxUnacknowledged);
    expect(sent).toEqual([]);
    add(held, maxUnacknowledged);
    expect(sent).toHaveLength(held);
  });

  it("are dropped once the connection is closed", async () => {
    const { sent, state, acks, add } = setUp();
    add(1);
    state.closed = true;
    acks.flush();
    add(2);
    await sleep(20);
    expect(sent).toEqual([]);
  });
});
