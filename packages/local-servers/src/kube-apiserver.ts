import { generateKeyPairSync, randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { join } from "node:path";
import { freePort } from "./free-port.js";
import { findGoProgram, type GoProgram } from "./go-program.js";
import type { Guard } from "./guard.js";
import { type LocalServer, startServerProcess } from "./server-process.js";

const VERSION = "1.34.1";
const stamp = (name: string, value: string) => `-X k8s.io/component-base/version.${name}=${value}`;
const kubernetes = (name: string, variable: string): GoProgram => ({
  name,
  version: VERSION,
  module: "kubernetes",
  package: `k8s.io/kubernetes/cmd/${name}`,
  linkerFlags: [stamp("gitVersion", `v${VERSION}`), stamp("gitMajor", "1"), stamp("gitMinor", "34")].join(" "),
  variable,
});
const API_SERVER = kubernetes("kube-apiserver", "FLYTE_TS_KUBE_APISERVER");
const CONTROLLERS = kubernetes("kube-controller-manager", "FLYTE_TS_KUBE_CONTROLLER_MANAGER");

/** What a cluster's controllers do that the services rely on: deleting what a deleted owner or namespace leaves, counting quotas. */
const NEEDED_CONTROLLERS = [
  "garbage-collector-controller",
  "namespace-controller",
  "serviceaccount-controller",
  "resourcequota-controller",
];

export interface KubeApiserverOptions {
  /** Keeps certificates, keys and the kubeconfig. */
  readonly dataDir: string;
  readonly etcdUrl: string;
  /** Default: any free port. */
  readonly port?: number;
  /** Further flags of kube-apiserver; they come last, so they win. */
  readonly args?: readonly string[];
  /** Told when the program has to be built first. */
  readonly onBuild?: (what: string) => void;
  /** Ends the server when this process has died. Default: it stays. */
  readonly guard?: Guard | undefined;
}

export interface KubeApiserver extends LocalServer {
  /** File that names the server, its certificate and an administrator's token. */
  readonly kubeconfig: string;
  /** Token of an administrator. */
  readonly token: string;
  /** The server's certificate, PEM. */
  readonly ca: string;
}

export function findKubeApiserver(onBuild?: (what: string) => void): Promise<string> {
  return findGoProgram(API_SERVER, onBuild);
}

export function findControllerManager(onBuild?: (what: string) => void): Promise<string> {
  return findGoProgram(CONTROLLERS, onBuild);
}

/**
 * Starts kube-apiserver on the loopback address and an etcd. There is one user, an
 * administrator with a token, and everything is allowed. Pods need no service account.
 */
export async function startKubeApiserver(options: KubeApiserverOptions): Promise<KubeApiserver> {
  const command = await findKubeApiserver(options.onBuild);
  const port = options.port ?? (await freePort());
  const file = (name: string) => join(options.dataDir, name);
  mkdirSync(options.dataDir, { recursive: true, mode: 0o700 });
  const token = keep(file("token"), () => randomBytes(24).toString("hex"));
  keep(file("tokens.csv"), () => `${token},admin,admin,"system:masters"\n`);
  keep(file("service-accounts.key"), () => {
    const pair = generateKeyPairSync("rsa", { modulusLength: 2048 });
    return pair.privateKey.export({ type: "pkcs1", format: "pem" }).toString();
  });
  const url = `https://127.0.0.1:${port}`;
  const args = [
    `--etcd-servers=${options.etcdUrl}`,
    "--bind-address=127.0.0.1",
    "--advertise-address=127.0.0.1",
    `--secure-port=${port}`,
    `--cert-dir=${file("certificates")}`,
    "--service-cluster-ip-range=10.0.0.0/24",
    `--token-auth-file=${file("tokens.csv")}`,
    "--authorization-mode=AlwaysAllow",
    "--service-account-issuer=https://kubernetes.default.svc",
    `--service-account-key-file=${file("service-accounts.key")}`,
    `--service-account-signing-key-file=${file("service-accounts.key")}`,
    "--disable-admission-plugins=ServiceAccount",
    // The address of no machine leads to the loopback address, and nothing here looks for the service of that name.
    "--endpoint-reconciler-type=none",
    "--max-requests-inflight=2000",
    "--max-mutating-requests-inflight=1000",
    ...(options.args ?? []),
  ];
  const server = await startServerProcess({
    name: "kube-apiserver",
    command,
    args,
    url,
    port,
    stopSignal: "SIGTERM",
    guard: options.guard,
    patienceMs: 90_000,
    ready: () => answersReady(url, { token, ca: file("certificates/apiserver.crt") }),
  });
  const ca = readFileSync(file("certificates/apiserver.crt"), "utf8");
  const kubeconfig = file("kubeconfig");
  writeKubeconfig(kubeconfig, { url, token, ca });
  return { ...server, kubeconfig, token, ca };
}

export interface ControllerManagerOptions {
  readonly kubeconfig: string;
  /** Folder of the API server: it holds the key that signs service accounts' tokens. */
  readonly dataDir: string;
  readonly onBuild?: (what: string) => void;
  /** Ends the server when this process has died. Default: it stays. */
  readonly guard?: Guard | undefined;
}

/** Starts those controllers of kube-controller-manager that the services rely on. */
export async function startControllerManager({ kubeconfig, dataDir, onBuild, guard }: ControllerManagerOptions): Promise<LocalServer> {
  const command = await findControllerManager(onBuild);
  const port = await freePort();
  return startServerProcess({
    name: "kube-controller-manager",
    command,
    args: [
      `--kubeconfig=${kubeconfig}`,
      `--controllers=${NEEDED_CONTROLLERS.join(",")}`,
      `--service-account-private-key-file=${join(dataDir, "service-accounts.key")}`,
      "--leader-elect=false",
      "--bind-address=127.0.0.1",
      `--secure-port=${port}`,
      `--cert-dir=${join(dataDir, "controllers")}`,
    ],
    url: `https://127.0.0.1:${port}`,
    port,
    stopSignal: "SIGTERM",
    guard,
    patienceMs: 60_000,
  });
}

function keep(path: string, make: () => string): string {
  if (!existsSync(path)) writeFileSync(path, make(), { mode: 0o600 });
  return readFileSync(path, "utf8");
}

function answersReady(url: string, { token, ca }: { token: string; ca: string }): Promise<boolean> {
  if (!existsSync(ca)) return Promise.resolve(false);
  return new Promise((resolve) => {
    const asked = request(
      `${url}/readyz`,
      { ca: readFileSync(ca), headers: { authorization: `Bearer ${token}` }, timeout: 2_000, agent: false },
      (answer) => {
        answer.resume();
        resolve(answer.statusCode === 200);
      },
    );
    asked.once("error", () => resolve(false));
    asked.once("timeout", () => asked.destroy());
    asked.end();
  });
}

function writeKubeconfig(path: string, { url, token, ca }: { url: string; token: string; ca: string }): void {
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "local", cluster: { server: url, "certificate-authority-data": Buffer.from(ca).toString("base64") } }],
    users: [{ name: "admin", user: { token } }],
    contexts: [{ name: "local", context: { cluster: "local", user: "admin" } }],
    "current-context": "local",
  };
  // JSON is YAML.
  writeFileSync(path, `${JSON.stringify(config, null, 2)}\n`, { mode: 0o600 });
}
