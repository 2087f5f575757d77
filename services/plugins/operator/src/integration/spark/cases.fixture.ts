import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { JsonObject } from "@bufbuild/protobuf";
import { PODS } from "@flyte-ts/kubernetes";
import type { Pod } from "@flyte-ts/pod-task";
import { expect, it, vi } from "vitest";
import { OUTPUTS } from "../../simulation/operator-world.js";
import { SAMPLES } from "../../simulation/samples.js";
import { Attempt, DesiredState, PATIENCE, Phase } from "../attempt.fixture.js";
import type { OperatorCluster } from "../operator-cluster.fixture.js";
import { failed, running, succeeded } from "../pod-status.fixture.js";
import { runDriver } from "./driver-process.fixture.js";
import { NAMESPACE } from "../test-cluster.fixture.js";

/** Main file of a task: writes the sum of the numbers below 100 where the environment says. */
const MAIN = `import os
from pyspark.sql import SparkSession
spark = SparkSession.builder.getOrCreate()
total = spark.range(100).selectExpr("sum(id)").first()[0]
with open(os.environ["RESULT"], "w") as file:
    file.write(f"{total} {spark.conf.get('spark.app.name')}")
`;

/** Tests what only the real `spark-submit` does; `installed` resolves when the operator runs. */
export function sparkCases(sparkSubmit: string, installed: () => Promise<OperatorCluster>): void {
  const start = async (name: string, custom: JsonObject) => {
    const cluster = await installed();
    const attempt = new Attempt(cluster, "spark", { name, custom: { ...SAMPLES["spark"]?.custom, ...custom } });
    await attempt.send(DesiredState.RUN);
    return { cluster, attempt };
  };

  it("spark: a submission that spark-submit refuses is named while it is repeated, and its abort leaves nothing", async () => {
    const { attempt } = await start("refused", { sparkConf: { "spark.driver.memory": "much" } });
    const { event } = await attempt.untilReason("the submission failed and is repeated");
    expect(event).toMatchObject({ phase: Phase.INITIALIZING, reason: expect.stringContaining("Driver memory must be") });
    await attempt.send(DesiredState.ABORT);
    await attempt.until(Phase.ABORTED);
    expect(await attempt.remaining()).toEqual([]);
  });

  it("spark: the driver that spark-submit creates computes the result of the task", async ({ onTestFinished }) => {
    const folder = mkdtempSync(join(tmpdir(), "flyte-ts-test-spark-task-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const [main, result] = [join(folder, "main.py"), join(folder, "result")];
    writeFileSync(main, MAIN);
    const custom = { mainApplicationFile: `local://${main}`, executorPath: join(sparkSubmit, "..", "python") };
    const { cluster, attempt } = await start("computes", custom);
    const driver = await vi.waitFor(async () => {
      const pod = await cluster.client.get<Pod>(PODS, { namespace: NAMESPACE, name: `${attempt.name}-driver` });
      if (pod === undefined) throw new Error("no driver");
      return pod;
    }, PATIENCE);
    attempt.play(running);
    await attempt.until(Phase.RUNNING);
    const end = await runDriver(driver, { client: cluster.client, sparkSubmit, folder, env: { RESULT: result } });
    attempt.writeFile("outputs.pb", OUTPUTS);
    attempt.play((pod) => (end.exitCode === 0 ? succeeded(pod) : failed(pod, end.exitCode)));
    await attempt.until(Phase.SUCCEEDED);
    expect(readFileSync(result, "utf8")).toBe(`4950 ${attempt.name}`);
  });
}
