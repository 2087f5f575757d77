import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { CUSTOM_RESOURCE_DEFINITIONS } from "@flyte-ts/kubernetes";
import { serviceNames } from "@flyte-ts/service-manifest";
import { type AuditLog, createAuditLog, kubernetesSkipReason, memoryMib } from "@flyte-ts/testing";
import { SPARK_DEFINITIONS, startSparkOperator } from "@flyte-ts/test-operators";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { manifest } from "../manifest.js";
import { OUTPUTS } from "../simulation/operator-world.js";
import { Attempt, DesiredState, Phase } from "./attempt.fixture.js";
import { PLUGIN_PROGRAM, type PluginProcess, startPluginProcess } from "./plugin-process.fixture.js";
import { running } from "./pod-status.fixture.js";
import { playRunning, playSuccess } from "./plays.fixture.js";
import { createDriver } from "./spark/driver.fixture.js";
import { logger } from "./test-cluster.fixture.js";

// `OPERATORS=full`: as many jobs as one service is promised to bear.
const isFull = process.env["OPERATORS"] === "full";
const JOBS = isFull ? 1_000 : 50;
const MEASURED_MS = isFull ? 120_000 : 4_000;
const MAX_CALLS_PER_JOB_AND_MINUTE = 2;
const MAX_RSS_MIB = 150;
const TASK_TYPE = "spark";
const PATIENCE = { timeout: 600_000, interval: 1_000 };
const canRun = process.platform === "linux" && existsSync(PLUGIN_PROGRAM) && (await kubernetesSkipReason()) === undefined;

describe.skipIf(!canRun)(`${JOBS} jobs of one kind`, { timeout: 1_500_000 }, () => {
  let audit: AuditLog;
  let service: PluginProcess;
  let attempts: readonly Attempt[];
  let stopOperator: () => Promise<unknown> = () => Promise.resolve();

  beforeAll(async () => {
    audit = createAuditLog();
    service = await startPluginProcess([TASK_TYPE], { apiArgs: audit.apiArgs, settings: {} });
    const { client } = service;
    for (const definition of SPARK_DEFINITIONS) await client.create(CUSTOM_RESOURCE_DEFINITIONS, definition);
    const { operator } = new Attempt(service, TASK_TYPE, { name: "kind" });
    await vi.waitUntil(() => client.findResource(operator.apiVersion, operator.kind), PATIENCE);
    // Without `spark-submit`: a virtual machine of Java for each job would take an hour.
    stopOperator = startSparkOperator({ client, logger, submit: createDriver(client) }).stop;
    attempts = Array.from({ length: JOBS }, (_, i) => new Attempt(service, TASK_TYPE, { name: `load-${i}` }));
    service.start();
  }, 420_000);
  afterAll(async () => {
    await stopOperator();
    await service?.stop();
    audit?.remove();
  });

  const calls = () => [...audit.callsOf(serviceNames(manifest).userAgent).values()].reduce((sum, count) => sum + count, 0);
  const untilAll = (phase: Phase) =>
    vi.waitUntil(() => {
      const reached = service.events.filter(({ event }) => event?.phase === phase).map(({ event }) => event?.metadata?.generatedName);
      return new Set(reached).size >= JOBS;
    }, PATIENCE);
  /** Calls for each job during an action. */
  const callsPerJob = async (act: () => Promise<unknown>) => {
    const before = calls();
    await act();
    return (calls() - before) / JOBS;
  };

  it("need few calls to the Kubernetes API and little memory", async () => {
    const started = await callsPerJob(async () => {
      for (const attempt of attempts) playRunning(attempt);
      for (const attempt of attempts) await attempt.send(DesiredState.RUN);
      await untilAll(Phase.RUNNING);
    });
    const rssAtStart = memoryMib(service.pid(), "VmRSS");
    const peakAtStart = memoryMib(service.pid(), "VmHWM");
    const underWay = await callsPerJob(async () => {
      await sleep(MEASURED_MS / 2);
      // Each pod changes once.
      for (const attempt of attempts) attempt.play((pod) => running(pod));
      await sleep(MEASURED_MS / 2);
    });
    const rssUnderWay = memoryMib(service.pid(), "VmRSS");
    const ended = await callsPerJob(async () => {
      for (const attempt of attempts) attempt.writeFile("outputs.pb", OUTPUTS);
      for (const attempt of attempts) playSuccess(attempt);
      await untilAll(Phase.SUCCEEDED);
    });
    const peak = memoryMib(service.pid(), "VmHWM");
    const perMinute = (underWay * 60_000) / MEASURED_MS;
    const rss = `RSS ${rssAtStart} MiB after the start (${peakAtStart} at most), ${rssUnderWay} under way, ${peak} at most`;
    const figures = `${JOBS} jobs: calls a job ${started} to start, ${perMinute} a minute under way, ${ended} to end; ${rss}`;
    process.stderr.write(`${figures}\n`);
    // A creation, and no second one.
    expect(started, figures).toBeLessThan(2);
    expect(perMinute, figures).toBeLessThanOrEqual(MAX_CALLS_PER_JOB_AND_MINUTE);
    expect(ended, figures).toBeLessThan(1);
    expect(peak, figures).toBeLessThanOrEqual(MAX_RSS_MIB);
  });
});
