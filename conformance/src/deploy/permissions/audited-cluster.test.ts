import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { kubernetesSkipReason } from "@flyte-ts/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AuditedCluster } from "./audited-cluster.js";
import { leaderElectionPermission, serviceNames } from "@flyte-ts/service-manifest";
import { DEPLOYED } from "../../services.js";
import { hasKubectl } from "../manifests.js";
import { root } from "../../repository.js";
import { builtProgram } from "../../stack/built-program.js";

/** Accounts with rights in every deployment. */
const ACCOUNTS = DEPLOYED.filter(({ manifest }) => manifest.permissions.length > 0 && !manifest.optional).map(
  ({ manifest }) => serviceNames(manifest).kubernetes,
);
/**
 * Services that need no permission except on leases. Every service with leader election may write
 * leases.
 */
const ELECTION_ONLY = DEPLOYED.filter(({ manifest }) =>
  manifest.permissions.every(({ reason }) => reason === leaderElectionPermission.reason),
).map(({ manifest }) => serviceNames(manifest).kubernetes);
const unavailable = !hasKubectl() || (await kubernetesSkipReason()) !== undefined;
const program = builtProgram(join(root, "packages", "cli"));

// Checks that the cluster of used-permissions.test.ts, which refuses no request of the stack,
// refuses other requests.
describe.skipIf(unavailable)("a cluster with the permissions of the manifests", () => {
  let cluster: AuditedCluster;
  beforeAll(async () => {
    cluster = await AuditedCluster.start("single-cluster", { components: ["cluster-resources/access"] });
  });
  afterAll(() => cluster?.stop());

  test.each(ACCOUNTS)("doctor finds the permissions of %s sufficient for that service only", (account) => {
    const flags = ["doctor", "--kubeconfig", cluster.kubeconfig, "--context", account, "--namespace", "flyte"];
    const { stdout } = spawnSync(process.execPath, [program, ...flags], { encoding: "utf8" });
    const sufficient = [...stdout.matchAll(/ sufficient for ([a-z-]+)$/gm)].flatMap(([, name]) => name ?? []);
    expect(sufficient).toContain(account);
    expect(sufficient.filter((name) => !ELECTION_ONLY.includes(name))).toEqual(
      account === "flyteadmin" ? ["flyteadmin", "flyteadmin-cluster-resources"] : ELECTION_ONLY.includes(account) ? [] : [account],
    );
  });
});
