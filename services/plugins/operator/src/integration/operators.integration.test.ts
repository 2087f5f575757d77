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
import { findOperatorSets, type OperatorSet } from "./operator-sets.fixture.js";
import { playRunning, playSuccess } from "./plays.fixture.js";
import { rayCases } from "./ray/cases.fixture.js";
import { sparkCases } from "./spark/cases.fixture.js";
import { CONTROLLERS, NAMESPACE } from "./test-cluster.fixture.js";

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

  const serves = ({ taskTypes }: OperatorSet) => {
    const served = cluster.controller.watch.served.map((operator) => operator.taskType);
    return taskTypes.every((type) => served.includes(type));
  };
  /** Sends an attempt of each operator while the cluster has none of their kinds. */
  const sendEarly = once(async () => {
    const early = sets.map(async (set) => {
      const attempt = new Attempt(cluster, set.taskTypes[0] ?? "", { name: "early" });
      await attempt.send(DesiredState.RUN);
      return [set, { attempt, before: { served: serves(set), events: attempt.events.length } }] as const;
    });
    return new Map(await Promise.all(early));
  });
  /** Installs the kinds of all operators, and then the controllers, which find all at once. */
  const define = once(async () => {
    await sendEarly();
    for (const definition of sets.flatMap(({ definitions }) => definitions))
      await cluster.client.create(CUSTOM_RESOURCE_DEFINITIONS, definition);
    await vi.waitUntil(() => sets.every(serves), PATIENCE);
    await cluster.api.startControllers(CONTROLLERS);
  });

  describe.concurrent.each(sets)("$title", { timeout: TEST_TIMEOUT_MS }, (set) => {
    /** Installs the kinds and then the operator, while an attempt waits for each. */
    const install = once(async () => {
      const sent = (await sendEarly()).get(set);
      if (sent === undefined) throw new Error(`no attempt was sent for ${set.title}`);
      const { attempt, before } = sent;
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
