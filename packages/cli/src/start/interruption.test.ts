import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import { watchInterruption } from "./interruption.js";

function world() {
  const exits: number[] = [];
  const target = Object.assign(new EventEmitter(), { exit: (status: number) => void exits.push(status) });
  const clock = { now: 0 };
  return { exits, target, clock, interruption: watchInterruption(target, () => clock.now) };
}

test.each(["SIGINT", "SIGTERM", "SIGHUP", "disconnect"])("%s requests the shutdown", async (event) => {
  const { target, interruption, exits } = world();
  expect(interruption.signal.aborted).toBe(false);
  target.emit(event);
  expect(await interruption.happened).toBe("interrupted");
  expect([interruption.signal.aborted, exits]).toEqual([true, []]);
});

test("repeated signals of a service manager or npm do not abort an orderly shutdown", () => {
  const { target, clock, exits } = world();
  for (const event of ["SIGTERM", "SIGTERM", "SIGHUP", "disconnect"]) target.emit(event);
  target.emit("SIGINT");
  clock.now = 5_000;
  target.emit("SIGTERM");
  expect(exits).toEqual([]);
});

test("a second Ctrl-C ends the process at once", () => {
  const { target, clock, exits } = world();
  target.emit("SIGINT");
  target.emit("SIGINT");
  expect(exits).toEqual([]);
  clock.now = 2_000;
  target.emit("SIGINT");
  expect(exits).toEqual([130]);
});
