import { request } from "node:https";
import { text } from "node:stream/consumers";
import { CUSTOM_RESOURCE_DEFINITIONS } from "@flyte-ts/kubernetes";
import { kubernetesSkipReason } from "@flyte-ts/testing";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { NewJob } from "../job/build-job.js";
import { buildSample } from "../simulation/build-sample.js";
import { OUTPUTS } from "../simulation/operator-world.js";
import { SAMPLES } from "../simulation/samples.js";
import { Attempt, DesiredState, PATIENCE, Phase, TEST_TIMEOUT_MS } from "./attempt.fixture.js";
import { operatorCases } from "./operator-cases.fixture.js";
import { type OperatorCluster, startOperatorCluster } from "./operator-cluster.fixture.js";
import { findOperatorSets } from "./operator-sets.fixture.js";
import { playRunning, playSuccess } from "./plays.fixture.js";
import { rayCases } from "./ray/cases.fixture.js";
import { sparkCases } from "./spark/cases.fixture.js";
import { NAMESPACE } from "./test-cluster.fixture.js";

// Operators and the Kubernetes API are real, pods are played.
const sets = (await kubernetesSkipReason()) === undefined ? await findOperatorSets() : [];

describe.skipIf(sets.length === 0)("on a real kube-apiserver", () => {
  let cluster: OperatorCluster;
  const stops: (() => Promise<unknown>)[] = [];
  beforeAll(async () => {
    cluster = await startOperatorCluster();
  }, 420_000);
  afterAll(async () => {
    await Promise.all(stops.map((stop) => stop()));
    await cluster?.stop();
  });

  describe.concurrent.each(sets)("$title", { timeout: TEST_TIMEOUT_MS }, (set) => {
    const [taskType = ""] = set.taskTypes;
    const servesAll = () => {
      const served = cluster.controller.watch.served.map((operator) => operator.taskType);
      return set.taskTypes.every((type) => served.includes(type));
    };
    const define = once(async () => {
      for (const definition of set.definitions) await cluster.client.create(CUSTOM_RESOURCE_DEFINITIONS, definition);
      await vi.waitUntil(servesAll, PATIENCE);
    });
    /** Installs the kinds and then the operator, while an attempt waits for each. */
    const install = once(async () => {
      const attempt = new Attempt(cluster, taskType, { name: "early" });
      await attempt.send(DesiredState.RUN);
      const before = { served: servesAll(), events: attempt.events.length };
      await define();
      await attempt.send(DesiredState.RUN);
      await attempt.untilReason("no operator has acted on");
      stops.push(await set.start(cluster));
      return { attempt, before };
    });
    const installed = async () => {
      await install();
      return cluster;
    };

    it("a task waits for the kind and for the operator, and runs when both have come", async () => {
      const { attempt, before } = await install();
      expect(before).toEqual({ served: false, events: 0 });
      playRunning(attempt);
      await attempt.until(Phase.RUNNING);
      attempt.writeFile("outputs.pb", OUTPUTS);
      playSuccess(attempt);
      await attempt.until(Phase.SUCCEEDED);
    });

    it.runIf(set.checked).each(set.taskTypes)("%s: the definition has every field of the resource", async (type) => {
      await define();
      expect(await unknownFields(cluster, buildSample(type, SAMPLES[type]?.custom ?? {}))).toBe("");
    });

    for (const type of set.taskTypes) operatorCases(type, installed);
    if (set.taskTypes.includes("ray")) rayCases(installed);
    if (set.sparkSubmit !== undefined) sparkCases(set.sparkSubmit, installed);
  });
});

/** Lets the API server check a resource without creating it; returns what it refuses. */
function unknownFields({ api }: OperatorCluster, { apiVersion, kind = "", ...rest }: NewJob): Promise<string> {
  const path = `/apis/${apiVersion}/namespaces/${NAMESPACE}/${kind.toLowerCase()}s?fieldValidation=Strict&dryRun=All`;
  const headers = { "content-type": "application/json", authorization: `Bearer ${api.token}` };
  return new Promise((resolve, reject) => {
    const call = request(`${api.url}${path}`, { method: "POST", ca: api.ca, headers }, (response) => {
      void text(response).then((answer) => resolve(response.statusCode === 201 ? "" : answer), reject);
    });
    call.on("error", reject).end(JSON.stringify({ apiVersion, kind, ...rest }));
  });
}

/** Runs an action at its first call; later calls get its result. */
function once<T>(act: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | undefined;
  return () => (result ??= act());
}
