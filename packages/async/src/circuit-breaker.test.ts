import { describe, expect, it } from "vitest";
import { CircuitBreaker } from "./circuit-breaker.js";
import { ManualTime } from "./manual-time.js";

const open = (times = 5) => {
  const clock = new ManualTime();
  const breaker = new CircuitBreaker({ clock, random: () => 0 });
  for (let i = 0; i < times; i++) breaker.onNoAnswer("reset");
  return { clock, breaker };
};

describe("a circuit breaker", () => {
  it("opens after five failures in a row, with their reason", () => {
    const { breaker } = open(4);
    expect([breaker.isOpen, breaker.admit(), breaker.reason]).toEqual([false, 0, "reset"]);
    breaker.onNoAnswer("refused");
    expect([breaker.isOpen, breaker.admit(), breaker.reason]).toEqual([true, 1_000, "refused"]);
  });

  it("counts failures in a row only", () => {
    const { breaker } = open(4);
    breaker.onAnswer();
    breaker.onNoAnswer("reset");
    expect([breaker.isOpen, breaker.admit()]).toEqual([false, 0]);
  });

  it("admits one call after the pause, whose failure makes a longer one", async () => {
    const { breaker, clock } = open();
    for (const pauseMs of [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]) {
      expect(breaker.restMs()).toBe(pauseMs);
      await clock.advance(pauseMs);
      expect([breaker.admit(), breaker.admit(), breaker.admit()]).toEqual([0, 1_000, 1_000]);
      breaker.onNoAnswer("reset");
    }
  });

  it("admits a call after each pause, also after one that the endpoint asked for", async () => {
    const { breaker, clock } = open(0);
    breaker.onNoAnswer("429", { throttled: true });
    await clock.advance(breaker.restMs());
    expect(breaker.admit()).toBe(0);
    breaker.onNoAnswer("reset");
    await clock.advance(breaker.restMs());
    expect(breaker.admit()).toBe(0);
  });

  it("admits another call at once when the admitted one is not made", async () => {
    const { breaker, clock } = open();
    await clock.advance(1_000);
    expect([breaker.admit(), breaker.admit()]).toEqual([0, 1_000]);
    breaker.withdraw();
    expect([breaker.admit(), breaker.isOpen]).toEqual([0, true]);
  });

  it("closes with the first answer, and begins with short pauses again", async () => {
    const { breaker, clock } = open(6);
    await clock.advance(5_000);
    expect(breaker.admit()).toBe(0);
    breaker.onAnswer();
    expect([breaker.isOpen, breaker.admit(), breaker.admit(), breaker.reason]).toEqual([false, 0, 0, ""]);
    for (let i = 0; i < 5; i++) breaker.onNoAnswer("reset");
    expect(breaker.restMs()).toBe(1_000);
  });

  it("does not lengthen a pause for calls that were in flight when it began", () => {
    expect(open(50).breaker.restMs()).toBe(1_000);
  });

  it("opens at once when the endpoint asks for fewer calls, for the time that it asks for", () => {
    const { breaker } = open(0);
    breaker.onNoAnswer("429", { throttled: true, retryAfterMs: 7_000 });
    expect(breaker.restMs()).toBe(7_000);
    const { breaker: other } = open(0);
    other.onNoAnswer("429", { throttled: true, retryAfterMs: 3_600_000 });
    expect(other.restMs()).toBe(30_000);
    const { breaker: third } = open(0);
    third.onNoAnswer("429", { throttled: true });
    expect(third.restMs()).toBe(1_000);
  });
});
