import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type KubernetesFixture, kubernetesFixture } from "@flyte-ts/testing";
import { parse } from "yaml";
import { type Additions, buildOverlay } from "../manifests.js";
import { type Permission, grantedPermissions } from "./granted-permissions.js";

/** A request of a service account. */
export interface AuditedRequest {
  /** Name of the service account. */
  readonly account: string;
  readonly verb: string;
  /** `group/resource` or `resource`, with `/subresource`. */
  readonly resource: string;
  readonly namespace: string;
  readonly code: number;
}

const KINDS = new Set([
  "Namespace",
  "ServiceAccount",
  "ClusterRole",
  "ClusterRoleBinding",
  "Role",
  "RoleBinding",
  "CustomResourceDefinition",
]);

/**
 * A real Kubernetes API that grants service accounts exactly the permissions of an overlay's
 * manifests and records every request. Its kubeconfig has a context for each account, named after
 * it.
 */
export class AuditedCluster {
  private constructor(
    private readonly kubernetes: KubernetesFixture,
    private readonly folder: string,
    readonly kubeconfig: string,
    readonly allowed: readonly Permission[],
  ) {}

  static async start(overlay: string, additions: Additions = {}): Promise<AuditedCluster> {
    const folder = mkdtempSync(join(tmpdir(), "flyte-ts-audited-"));
    const policy = join(folder, "policy.yaml");
    writeFileSync(policy, "apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived]\nrules: [{ level: Metadata }]\n");
    const kubernetes = await kubernetesFixture({
      controllers: true,
      authorization: "RBAC",
      args: [
        // Some clusters permit an owner reference only to accounts that may change the owner.
        "--enable-admission-plugins=OwnerReferencesPermissionEnforcement",
        `--audit-policy-file=${policy}`,
        `--audit-log-path=${join(folder, "audit.log")}`,
      ],
    });
    const { objects } = buildOverlay(overlay, additions);
    const needed = objects.filter(({ kind }) => KINDS.has(kind));
    const kubectl = (args: readonly string[], input?: string) =>
      execFileSync("kubectl", ["--kubeconfig", kubernetes.kubeconfig, ...args], { encoding: "utf8", input });
    kubectl(["apply", "-f", "-"], needed.map((object) => JSON.stringify(object)).join("\n"));
    const accounts = needed.filter(({ kind }) => kind === "ServiceAccount").map(({ metadata }) => metadata.name);
    const config = parse(readFileSync(kubernetes.kubeconfig, "utf8")) as { users: object[]; contexts: object[] };
    for (const name of accounts) {
      const token = kubectl(["-n", "flyte", "create", "token", name, "--duration=2h"]).trim();
      config.users.push({ name, user: { token } });
      config.contexts.push({ name, context: { cluster: "local", user: name } });
    }
    const kubeconfig = join(folder, "kubeconfig");
    writeFileSync(kubeconfig, JSON.stringify(config), { mode: 0o600 });
    return new AuditedCluster(kubernetes, folder, kubeconfig, grantedPermissions(needed));
  }

  requests(): readonly AuditedRequest[] {
    return readFileSync(join(this.folder, "audit.log"), "utf8")
      .split("\n")
      .filter((line) => line !== "")
      .flatMap((line) => {
        const { user, verb, objectRef, responseStatus } = JSON.parse(line) as AuditEvent;
        const account = /^system:serviceaccount:flyte:(.+)$/.exec(user.username)?.[1];
        if (account === undefined || objectRef === undefined) return [];
        const resource = [objectRef.apiGroup, objectRef.resource, objectRef.subresource].filter(Boolean).join("/");
        return [{ account, verb, resource, namespace: objectRef.namespace ?? "", code: responseStatus?.code ?? 0 }];
      });
  }

  async stop(): Promise<void> {
    await this.kubernetes.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

interface AuditEvent {
  readonly user: { readonly username: string };
  readonly verb: string;
  readonly objectRef?: {
    readonly apiGroup?: string;
    readonly resource: string;
    readonly subresource?: string;
    readonly namespace?: string;
  };
  readonly responseStatus?: { readonly code?: number };
}
