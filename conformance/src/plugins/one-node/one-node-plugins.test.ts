import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Job, runJob } from "./job-run.js";
import { type PluginNode, startPluginNode } from "./plugin-node.fixture.js";
import { serviceCases } from "./service-cases.js";

// All cases are in one file, because a machine can be one node at a time.

/** Jobs that compute in several pods; `hosts` is the role of the pods that compute. */
const JOBS: readonly (Job & { readonly name: string; readonly hosts: string })[] = [
  {
    name: "dask: two workers",
    file: "dask_job",
    image: "dask",
    n: 10,
    hosts: "Dask Worker",
    pods: {
      "Dask Runner": { count: 1, log: /has the squares/ },
      "Dask Scheduler": { count: 1, log: /Register worker/ },
      "Dask Worker": { count: 2, log: /squares \d/ },
    },
  },
  {
    name: "pytorch: two elastic workers",
    file: "elastic_job",
    image: "kubeflow",
    n: 20,
    hosts: "Worker",
    pods: { Worker: { count: 2, log: /rank \d has the squares/ } },
  },
  {
    name: "mpi: two workers",
    file: "mpi_job",
    image: "kubeflow",
    n: 30,
    hosts: "Worker",
    // The launcher prints for its workers.
    pods: { Launcher: { count: 1, log: /rank 0 has[^]*rank 1 has|rank 1 has[^]*rank 0 has/ }, Worker: { count: 2, log: /^/ } },
  },
  {
    name: "ray: a head and a worker",
    file: "ray_job",
    image: "ray",
    n: 10,
    hosts: "Ray Worker",
    pods: {
      "Ray Submitter": { count: 1, log: /has the squares/ },
      "Ray Head": { count: 1, log: /Ray runtime started/ },
      "Ray Worker": { count: 1, log: /Ray runtime started/ },
    },
  },
  {
    name: "spark: two executors",
    file: "spark_job",
    image: "spark",
    n: 40,
    hosts: "Spark Executor",
    pods: { "Spark Driver": { count: 1, log: /has the squares/ }, "Spark Executor": { count: 2, log: /Finished task/ } },
  },
];

describe.skipIf(process.env["ONE_NODE_PLUGINS"] !== "1")("operators on a real node", () => {
  let node: PluginNode;
  beforeAll(async () => {
    node = await startPluginNode();
  }, 3_600_000);
  afterAll(() => node?.stop(), 120_000);

  serviceCases(() => node);

  test.each(JOBS)("$name compute the outputs, and the log of each pod is at its link", { timeout: 900_000 }, async (job) => {
    const { end, outputs, pods } = await runJob(node, job);
    expect(end).toBe("SUCCEEDED");
    expect(outputs).toEqual([sumOfSquares(job.n), pods[job.hosts]]);
  });
});

function sumOfSquares(n: number): number {
  return Array.from({ length: n }, (_, number) => number * number).reduce((sum, square) => sum + square, 0);
}
