import { spawnSync } from "node:child_process";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { kubernetesSkipReason } from "@flyte-ts/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AuditedCluster } from "./audited-cluster.js";
import { kubectlIsThere } from "./manifests.js";

const unavailable = !kubectlIsThere() || (await kubernetesSkipReason()) !== undefined;
const program = join(resolve(dirname(fileURLToPath(import.meta.url)), "..", "..", ".."), "packages", "cli", "dist", "main.js");

// The cluster of access.test.ts, where nothing is refused: here is shown that it does refuse.
describe.skipIf(unavailable)("a cluster with the rights of the manifests", () => {
  let cluster: AuditedCluster;
  beforeAll(async () => {
    cluster = await AuditedCluster.start("single-cluster", { components: ["cluster-resources/access"] });
  });
  afterAll(() => cluster?.stop());

  test.each(["flyteadmin", "flytepropeller", "flyte-plugin-pod"])("doctor finds those of %s enough for it, and for no other", (account) => {
    const flags = ["doctor", "--kubeconfig", cluster.kubeconfig, "--context", account, "--namespace", "flyte"];
    const { stdout } = spawnSync(process.execPath, [program, ...flags], { encoding: "utf8" });
    const enough = [...stdout.matchAll(/(?<!not )enough for ([a-z-]+)$/gm)].map(([, name]) => name);
    expect(enough).toEqual(account === "flyteadmin" ? ["flyteadmin", "flyteadmin-cluster-resources"] : [account]);
  });
});
