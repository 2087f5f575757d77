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

test("it opens after failures in a row, and a success in between starts the count anew", () => {
  expect(after("+--+--").state).toBe("closed");
  expect(after("+---")).toEqual({ state: "open", since: 4, count: 0, reason: "no answer 3" });
  expect(after("+-----").since).toBe(4);
});

test("a cluster whose first answer is a failure is not there", () => {
  expect(after("").state).toBe("closed");
  expect(after("-").state).toBe("open");
});

test("it closes after successes in a row", () => {
  expect(after("+---+")).toMatchObject({ state: "half-open", reason: "no answer 3" });
  expect(after("+---+-").state).toBe("open");
  expect(after("+---+-++")).toEqual({ state: "closed", since: 8, count: 0, reason: "" });
});

test("whatever came before: it is open after that many failures, and closed after that many successes", () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom("+", "-"), maxLength: 20 }), (history) => {
      expect(after(`${history}---`).state).toBe("open");
      expect(after(`${history}++`).state).toBe("closed");
    }),
  );
});
