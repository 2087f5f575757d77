import { KubeError, PODS } from "@flyte-ts/kubernetes";
import { startSparkOperator, type SparkApplication } from "@flyte-ts/test-operators";
import { expect, it, vi } from "vitest";
import { SimulatedApi } from "../../simulation/simulated-api.js";
import { logger, NAMESPACE } from "../test-cluster.fixture.js";
import { createDriver } from "./driver.fixture.js";

it("a submission is repeated although the API server does not answer after the first one failed", async () => {
  const client = new SimulatedApi(() => undefined);
  const application = {
    metadata: { namespace: NAMESPACE, name: "job" },
    spec: { driver: {}, restartPolicy: { onSubmissionFailureRetries: 3 } },
  };
  client.put("sparkapplications", application);
  vi.spyOn(client, "delete").mockRejectedValueOnce(new KubeError("headers timeout", { status: 0 }));
  const submit = vi.fn(createDriver(client)).mockRejectedValueOnce(new Error("out of memory"));
  const operator = startSparkOperator({ client, logger, submit, submissionRetryMs: 1 });
  const status = () => (client.at(`sparkapplications/${NAMESPACE}/job`) as SparkApplication | undefined)?.status;
  await expect.poll(status, { timeout: 30_000 }).toMatchObject({ applicationState: { state: "SUBMITTED" }, submissionAttempts: 2 });
  expect(await client.get(PODS, { namespace: NAMESPACE, name: "job-driver" })).toBeDefined();
  await operator.stop();
});
