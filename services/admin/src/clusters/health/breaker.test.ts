import fc from "fast-check";
import { expect, test } from "vitest";
import { type Breaker, nextBreakerState, newBreaker } from "./breaker.js";

const limits = { failures: 3, successes: 2 };

/** Applies answers, one letter each: `+` a success, `-` a failure. */
function after(answers: string, from: Breaker = newBreaker(0, limits)): Breaker {
  return answers
    .split("")
    .reduce(
      (breaker: Breaker, answer, index) =>
        nextBreakerState(breaker, limits, { failure: answer === "-" ? `no answer ${index}` : undefined, now: index + 1 }),
      from,
    );
}

test("the breaker opens after consecutive failures, and a success resets the count", () => {
  expect(after("+--+--").state).toBe("closed");
  expect(after("+---")).toEqual({ state: "open", since: 4, count: 0, reason: "no answer 3" });
  expect(after("+-----").since).toBe(4);
});

test("the breaker opens at once when the first check of a cluster fails", () => {
  expect(after("").state).toBe("closed");
  expect(after("-").state).toBe("open");
});

test("the breaker closes after consecutive successes", () => {
  expect(after("+---+")).toMatchObject({ state: "half-open", reason: "no answer 3" });
  expect(after("+---+-").state).toBe("open");
  expect(after("+---+-++")).toEqual({ state: "closed", since: 8, count: 0, reason: "" });
});

test("after any history, enough failures open the breaker and enough successes close it", () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom("+", "-"), maxLength: 20 }), (history) => {
      expect(after(`${history}---`).state).toBe("open");
      expect(after(`${history}++`).state).toBe("closed");
    }),
  );
});
