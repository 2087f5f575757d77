import { expect, test } from "vitest";
import { serviceState } from "./service-state.js";

const heard = (...times: readonly number[]) => times.map((atMs) => ({ heardAt: new Date(atMs).toISOString() }));

test("a service runs as often as processes were heard lately, and is silent after three lost heartbeats", () => {
  expect(serviceState(heard(100_000, 60_000, 10_000), 100_000)).toEqual({ answering: 1, lastMs: 100_000 });
  expect(serviceState(heard(80_000, 70_000), 100_000)).toEqual({ answering: 2, lastMs: 80_000 });
  expect(serviceState(heard(65_000), 100_000)).toEqual({ answering: 0, lastMs: 65_000 });
  expect(serviceState([], 100_000)).toEqual({ answering: 0, lastMs: undefined });
});
