import { BinaryHeap } from "@flyte-ts/async";
import { describe, expect, it, test } from "vitest";
import { MinimumDelays } from "./minimum-delays.js";
import { RequestWindow } from "./request-window.js";

/**
 * Sends as many requests as the window admits while other workflows are active; `delayOf` gives the
 * response time for a number of unanswered ones.
 */
function exchange(delayOf: (unanswered: number, index: number) => number) {
  const window = new RequestWindow(new MinimumDelays(), { take: () => true });
  const due = new BinaryHeap<{ readonly at: number; readonly name: string }>((a, b) => a.at < b.at);
  let now = 0;
  let sent = 0;
  const step = () => {
    for (; window.admit({ generatedName: `a${sent}`, taskType: "t", runs: true }, { now, shared: true }); sent++) {
      due.push({ at: now + delayOf(due.size, sent), name: `a${sent}` });
    }
    const next = due.pop();
    if (next === undefined) throw new Error("nothing was admitted");
    now = next.at;
    window.onAnswer(next.name, now);
    return due.size;
  };
  return { run: (steps: number) => Array.from({ length: steps }, step).slice(-100) };
}

test("a plugin service that handles requests one after another gets a small window", () => {
  const { run } = exchange((unanswered) => 1 + unanswered);
  for (const unanswered of run(5_000)) expect(unanswered).toBeLessThanOrEqual(16);
});

test("a slow plugin service with much concurrency gets a large window", () => {
  const { run } = exchange(() => 1_000);
  expect(Math.max(...run(20_000))).toBeGreaterThanOrEqual(990);
});

test("varying response times are not taken for queueing", () => {
  const { run } = exchange((_, index) => 1_000 + ((index * 7_919) % 100) * 20);
  expect(Math.max(...run(40_000))).toBeGreaterThanOrEqual(500);
});

test("the window shrinks when a queue builds up, and grows again afterwards", () => {
  let busy = false;
  const { run } = exchange((unanswered) => (busy ? 20 + unanswered : 20));
  expect(Math.max(...run(10_000))).toBeGreaterThanOrEqual(990);
  busy = true;
  expect(Math.max(...run(10_000))).toBeLessThanOrEqual(64);
  busy = false;
  expect(Math.max(...run(10_000))).toBeGreaterThanOrEqual(990);
});

test("the window of a single workflow is bounded by the maximum", () => {
  const window = new RequestWindow(new MinimumDelays());
  let sent = 0;
  while (window.admit({ generatedName: `a${sent}`, taskType: "t", runs: true }, { now: 0, shared: false })) sent++;
  expect(sent).toBe(1_000);
});

test("the minimum delay of a task type expires after two intervals", () => {
  const delays = new MinimumDelays();
  expect(delays.record("t", 5, 0)).toBe(5);
  expect(delays.record("t", 9, 30_000)).toBe(5);
  expect(delays.record("other", 9, 30_000)).toBe(9);
  expect(delays.record("t", 9, 60_000)).toBe(5);
  expect(delays.record("t", 9, 119_000)).toBe(5);
  expect(delays.record("t", 9, 120_000)).toBe(9);
});

test("attempts start at a pace beside other workflows, also when all requests are answered at once", () => {
  const window = new RequestWindow(new MinimumDelays());
  let sent = 0;
  const run = (now: number, shared: boolean) => {
    for (let tries = 0; tries < 100; tries++) {
      const generatedName = `a${sent}`;
      if (!window.admit({ generatedName, taskType: "t", runs: true }, { now, shared })) return;
      window.onAnswer(generatedName, now);
      sent++;
    }
  };
  for (let now = 0; now < 3_000; now++) run(now, true);
  expect(sent).toBeGreaterThanOrEqual(256 + 1_195);
  expect(sent).toBeLessThanOrEqual(256 + 1_205);
  run(3_000, false);
  expect(sent).toBeGreaterThan(256 + 1_205);
});

test("requests to abort attempts do not wait for the pace of starts", () => {
  const window = new RequestWindow(new MinimumDelays());
  for (let index = 0; index < 10_000; index++) {
    const generatedName = `a${index}`;
    expect(window.admit({ generatedName, taskType: "t", runs: false }, { now: 0, shared: true })).toBe(true);
    window.onAnswer(generatedName, 0);
  }
});

describe("a plugin service that answers nothing for five seconds", () => {
  const request = (taskType: string, index: number) => ({ generatedName: `${taskType}${index}`, taskType, runs: true });
  const send = (window: RequestWindow, taskType: string, { first, now }: { first: number; now: number }) => {
    let sent = 0;
    while (sent < 3_000 && window.admit(request(taskType, first + sent), { now, shared: true })) sent++;
    return sent;
  };

  /** Fills the window with requests to A, beside one to B that is answered each second. */
  function silentBesideHealthy(): RequestWindow {
    const window = new RequestWindow(new MinimumDelays(), { take: () => true });
    const beside = { now: 0, shared: true };
    expect(window.admit(request("B", 0), beside)).toBe(true);
    expect(send(window, "A", { first: 0, now: 0 })).toBe(127);
    for (let second = 1; second <= 6; second++) {
      window.onAnswer(`B${second - 1}`, second * 1_000);
      expect(window.admit(request("B", second), { now: second * 1_000, shared: true })).toBe(true);
    }
    return window;
  }

  it("does not hold back requests to other services, nor to itself", () => {
    const window = silentBesideHealthy();
    expect(send(window, "A", { first: 1_000, now: 6_000 })).toBe(3_000);
    expect(send(window, "B", { first: 1_000, now: 6_000 })).toBeGreaterThan(0);
  });

  it("leaves the limit of other services in force", () => {
    const window = silentBesideHealthy();
    expect(window.admit(request("A", 1_000), { now: 6_000, shared: true })).toBe(true);
    expect(send(window, "B", { first: 1_000, now: 6_000 })).toBe(127);
  });

  it("counts again from its next answer, and not with what it received before", () => {
    const window = silentBesideHealthy();
    expect(send(window, "A", { first: 1_000, now: 6_000 })).toBe(3_000);
    window.onAnswer("A3", 6_100);
    expect(send(window, "A", { first: 5_000, now: 6_100 })).toBe(127);
  });

  it("is not one without requests, such as a service that a later node needs", () => {
    const window = new RequestWindow(new MinimumDelays(), { take: () => true });
    window.admit(request("A", 0), { now: 0, shared: true });
    window.onAnswer("A0", 10);
    expect(send(window, "A", { first: 1, now: 60_000 })).toBe(128);
  });
});
