import { simulateAttempt } from "@flyte-ts/task-plugin/harness";
import { expect, test } from "vitest";
import { athenaWorld, batchWorld, bigQueryWorld, hiveWorld, trinoWorld } from "./stand-in/worlds.fixture.js";

const SEEDS = Number(process.env["PLUGIN_SEEDS"] ?? 12);
/** A seed takes some 50 ms on a free machine. */
const TIMEOUT_MS = 60_000 + SEEDS * 1_000;

test.each([
  ["Athena", athenaWorld],
  ["AWS Batch", batchWorld],
  ["BigQuery", bigQueryWorld],
  ["HiveServer2", hiveWorld],
  ["Trino", trinoWorld],
])("%s tasks start one job and leave none, whatever fails", { timeout: TIMEOUT_MS }, async (_, world) => {
  for (let seed = 0; seed < SEEDS; seed++) expect(await simulateAttempt(world, seed), `PLUGIN_SEEDS: seed ${seed}`).toEqual([]);
});
