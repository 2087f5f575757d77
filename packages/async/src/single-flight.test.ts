import { expect, test } from "vitest";
import { SingleFlight } from "./single-flight.js";

test("concurrent calls with one key share an execution, and a later call starts another", async () => {
  const flights = new SingleFlight<number>();
  const finish: ((result: number) => void)[] = [];
  const work = () => new Promise<number>((resolve) => finish.push(resolve));
  const calls = [flights.run("a", work), flights.run("a", work), flights.run("b", work)];
  expect(finish.length).toBe(2);
  finish[0]?.(1);
  finish[1]?.(2);
  expect(await Promise.all(calls)).toEqual([1, 1, 2]);
  const later = flights.run("a", work);
  finish[2]?.(3);
  expect(await later).toBe(3);
});

test("a failure reaches all callers that share it, and the next call starts anew", async () => {
  const flights = new SingleFlight<string>();
  const fail = () => Promise.reject(new Error("unavailable"));
  const calls = await Promise.allSettled([flights.run("a", fail), flights.run("a", fail)]);
  expect(calls.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(await flights.run("a", () => Promise.resolve("loaded"))).toBe("loaded");
});
