import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFlyteClient } from "@flyte-ts/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { DatabaseEvidence } from "./evidence/database-evidence.js";
import { type Fault, formatFault } from "./faults/faults.js";
import { linkStack } from "./faults/links.js";
import { runRound, type RoundEnvironment } from "./round.js";
import { mountSmallDisks } from "./faults/small-disks.js";
import { registerWorkload } from "./workload/workload.js";
import { stackFolder, startStack } from "../stack/stack-fixture.js";

// Injects faults into every part of a stack with running executions. The end of each execution must
// be recorded completely: outputs or error, nodes, attempts and times.

/**
 * `COMPLETE_ENDS=full`: 20 rounds of faults that last longer than the delay after which admin reads
 * a terminal phase from the resource. Otherwise four rounds.
 */
const FULL = process.env.COMPLETE_ENDS === "full";

const LONG: readonly Fault[] = [
  { kind: "stopped", parts: ["postgres"] },
  { kind: "blackhole", parts: ["postgres"] },
  { kind: "disk full", disk: "nats" },
  { kind: "stopped", parts: ["nats"] },
  { kind: "killed", parts: ["postgres", "nats", "local-blobstore", "local-cluster"] },
  { kind: "disk full", disk: "postgres" },
  { kind: "stopped", parts: ["local-blobstore"] },
  { kind: "blackhole", parts: ["nats"] },
  { kind: "stopped", parts: ["local-cluster"] },
  { kind: "disk full", disk: "blobs" },
  { kind: "stopped", parts: ["admin"] },
  { kind: "blackhole", parts: ["local-blobstore"] },
  { kind: "killed", parts: ["admin", "propeller", "plugin-pod", "plugin-echo", "datacatalog", "scheduler"] },
  { kind: "stopped", parts: ["propeller"] },
  { kind: "disk full", disk: "cluster" },
  { kind: "blackhole", parts: ["local-cluster"] },
  { kind: "stopped", parts: ["plugin-pod", "plugin-echo", "datacatalog", "scheduler"] },
  { kind: "disk full", disk: "logs" },
  { kind: "blackhole", parts: ["propeller", "plugin-pod"] },
  { kind: "blackhole", parts: ["admin"] },
];
const SHORT: readonly Fault[] = [
  { kind: "stopped", parts: ["postgres"] },
  { kind: "disk full", disk: "blobs" },
  { kind: "killed", parts: ["admin", "propeller", "plugin-pod", "plugin-echo", "local-blobstore"] },
  { kind: "blackhole", parts: ["nats"] },
];
const ROUNDS = FULL ? LONG : SHORT;
const SIZE = FULL
  ? { concurrency: 50, maxExecutions: 200, faultMs: 90_000, taskMs: 6_000, timeoutMs: 400_000, settleTimeoutMs: 180_000 }
  : { concurrency: 14, maxExecutions: 28, faultMs: 5_000, taskMs: 800, timeoutMs: 180_000, settleTimeoutMs: 60_000 };
/** Shorten admin's repair delay so that the short form also repairs during a fault. */
const FAST_REPAIR = { FLYTE_TS_ADMIN_REPAIR__QUIET_SECONDS: "2", FLYTE_TS_ADMIN_REPAIR__EVERY_SECONDS: "0.5" };

let environment: RoundEnvironment;
const stops: (() => Promise<unknown> | void)[] = [];

beforeAll(async () => {
  const folder = stackFolder();
  const notes = mkdtempSync(join(tmpdir(), "flyte-ts-journal-"));
  stops.push(() => rmSync(notes, { recursive: true, force: true }));
  const disks = mountSmallDisks(folder);
  if (disks !== undefined) stops.push(() => disks.stop());
  const stack = await startStack(["--no-example"], FULL ? {} : FAST_REPAIR, folder);
  stops.push(() => stack.stop());
  const links = await linkStack(stack, { "plugin-echo": [/^logLevel:/m, `echoDelayMs: ${SIZE.taskMs}\nlogLevel:`] });
  stops.push(() => links.stop());
  const client = createFlyteClient({ endpoint: `127.0.0.1:${stack.api}` });
  const database = new DatabaseEvidence(stack);
  stops.push(
    () => database.close(),
    () => client.close(),
  );
  environment = { stack, links, disks, client, database, journal: join(notes, "journal") };
  await registerWorkload(client, { journal: environment.journal, sleepMs: SIZE.taskMs });
}, 300_000);
afterAll(async () => {
  for (const stop of stops.reverse()) await stop();
}, 120_000);

test.each(ROUNDS.map((fault, round) => ({ round, fault, name: formatFault(fault) })))(
  "round $round: $name: the end of every execution is recorded completely",
  async ({ round, fault, name }) => {
    if (fault.kind === "disk full" && environment.disks === undefined) {
      process.stdout.write(`${name}: no disk can be mounted here\n`);
      return;
    }
    const begun = Date.now();
    const prefix = `e${round}t${begun.toString(36)}x`;
    const { executions, recoveryMs, findings } = await runRound(environment, { prefix, fault, ...SIZE });
    const seconds = (ms: number) => (ms / 1_000).toFixed(1);
    process.stdout.write(
      `round ${round}  ${name.padEnd(60)} ${executions} executions  all ended ${seconds(recoveryMs)} s after it  ` +
        `${findings.length} inconsistencies  ${seconds(Date.now() - begun)} s in all\n${findings.map((line) => `  ${line}\n`).join("")}`,
    );
    expect(findings, environment.stack.output().slice(-2_000)).toEqual([]);
  },
  SIZE.faultMs + SIZE.timeoutMs + SIZE.settleTimeoutMs + 120_000,
);
