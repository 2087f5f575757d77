import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { InstallOptions } from "../program/install-options.js";
import { freePort, type ProcessWatchdog } from "@flyte-ts/host";
import { findGoProgram } from "../program/go-program.js";
import { type LocalServer, startServerProcess } from "@flyte-ts/local-servers";

export interface KwokOptions {
  readonly kubeconfig: string;
  /** Folder for its configuration. */
  readonly configDir: string;
  /** Duration of each pod, ms. */
  readonly podDurationMs: number;
  readonly watchdog?: ProcessWatchdog | undefined;
}

export function findKwok(options?: InstallOptions): Promise<string> {
  const program = {
    name: "kwok",
    version: "0.8.0",
    module: "kwok",
    mainPackage: "sigs.k8s.io/kwok/cmd/kwok",
    overrideVariable: "FLYTE_TS_KWOK",
  };
  return findGoProgram(program, options);
}

/**
 * Simulates the kubelets of all nodes: pods bound to them run for a while and succeed, without any
 * process.
 */
export async function startKwok({ kubeconfig, configDir, podDurationMs, watchdog }: KwokOptions): Promise<LocalServer> {
  const command = await findKwok();
  const port = await freePort();
  const config = join(configDir, "kwok.yaml");
  writeFileSync(config, stages(podDurationMs));
  return startServerProcess({
    name: "kwok",
    command,
    args: [`--kubeconfig=${kubeconfig}`, `--config=${config}`, "--manage-all-nodes", `--server-address=127.0.0.1:${port}`],
    url: `http://127.0.0.1:${port}`,
    port,
    stopSignal: "SIGTERM",
    watchdog,
    startTimeoutMs: 60_000,
  });
}

interface Stage {
  readonly name: string;
  readonly kind: "Pod" | "Node";
  readonly matchExpressions: readonly object[];
  readonly delayMs?: number;
  readonly next: object;
}

const NOT_DELETED = { key: ".metadata.deletionTimestamp", operator: "DoesNotExist" };

/** kwok's stages and their times. */
function stages(podDurationMs: number): string {
  const inPhase = (phase: string) => ({ key: ".status.phase", operator: "In", values: [phase] });
  const containers = (state: string) => `
containerStatuses:
{{ range .spec.containers }}
- name: {{ .name | Quote }}
  image: {{ .image | Quote }}
  restartCount: 0
  ready: ${state.startsWith("running")}
  state: { ${state} }
{{ end }}`;
  const all: readonly Stage[] = [
    {
      // It simulates pods only on nodes for which it has a stage.
      name: "node-runs",
      kind: "Node",
      matchExpressions: [{ key: ".status.phase", operator: "DoesNotExist" }],
      next: { statusTemplate: "phase: Running" },
    },
    {
      name: "pod-starts",
      kind: "Pod",
      matchExpressions: [NOT_DELETED, inPhase("Pending")],
      next: {
        statusTemplate: `phase: Running\nstartTime: {{ Now | Quote }}${containers("running: { startedAt: {{ Now | Quote }} }")}`,
      },
    },
    {
      name: "pod-succeeds",
      kind: "Pod",
      matchExpressions: [NOT_DELETED, inPhase("Running")],
      delayMs: podDurationMs,
      next: {
        statusTemplate: `phase: Succeeded${containers("terminated: { exitCode: 0, reason: Completed, startedAt: {{ Now | Quote }}, finishedAt: {{ Now | Quote }} }")}`,
      },
    },
    {
      name: "pod-goes",
      kind: "Pod",
      matchExpressions: [{ key: ".metadata.deletionTimestamp", operator: "Exists" }],
      next: { finalizers: { empty: true }, delete: true },
    },
  ];
  const documents = all.map(({ name, kind, matchExpressions, delayMs, next }) => ({
    apiVersion: "kwok.x-k8s.io/v1alpha1",
    kind: "Stage",
    metadata: { name },
    spec: {
      resourceRef: { apiGroup: "v1", kind },
      selector: { matchExpressions },
      ...(delayMs === undefined ? {} : { delay: { durationMilliseconds: delayMs } }),
      next,
    },
  }));
  // JSON is valid YAML.
  return documents.map((document) => JSON.stringify(document)).join("\n---\n");
}
