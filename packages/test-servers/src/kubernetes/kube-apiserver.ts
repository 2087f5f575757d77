import { kubeconfigText, probeReadiness, freePort, type ProcessWatchdog } from "@flyte-ts/host";
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findKubernetesProgram } from "./kubernetes-program.js";
import { type LocalServer, startServerProcess } from "@flyte-ts/local-servers";

export interface KubeApiserverOptions {
  /** Folder of certificates, keys and the kubeconfig. */
  readonly dataDir: string;
  readonly etcdUrl: string;
  /** Address to listen on. Default: the loopback address. */
  readonly address?: string;
  /** Default: any free port. */
  readonly port?: number;
  /** Authorization mode; an administrator may do everything in both. Default AlwaysAllow. */
  readonly authorization?: "AlwaysAllow" | "RBAC";
  /**
   * True: pods get the service account of their namespace, and its token; controllers must create
   * both. Default false.
   */
  readonly serviceAccounts?: boolean;
  /**
   * Further flags of kube-apiserver, placed last. For a single-valued flag the last value applies;
   * the values of a list flag add up.
   */
  readonly args?: readonly string[];
  /** Called before the program is built. */
  readonly onProgress?: (what: string) => void;
  /** Ends the server when this process exits. Default: it keeps running. */
  readonly watchdog?: ProcessWatchdog | undefined;
}

export interface KubeApiserver extends LocalServer {
  /** Kubeconfig with an administrator's token. */
  readonly kubeconfig: string;
  /** Token of an administrator. */
  readonly token: string;
  /** CA certificate of the server, PEM. */
  readonly ca: string;
}

export function findKubeApiserver(onProgress?: (what: string) => void): Promise<string> {
  return findKubernetesProgram("kube-apiserver", onProgress);
}

/** Default address. It cannot be an endpoint of a Service. */
const LOOPBACK = "127.0.0.1";

/** Starts kube-apiserver on an etcd. Its only user is an administrator with a token. */
export async function startKubeApiserver(options: KubeApiserverOptions): Promise<KubeApiserver> {
  const command = await findKubeApiserver(options.onProgress);
  const { address = LOOPBACK } = options;
  const port = options.port ?? (await freePort());
  const file = (name: string) => join(options.dataDir, name);
  mkdirSync(options.dataDir, { recursive: true, mode: 0o700 });
  const token = readOrCreate(file("token"), () => randomBytes(24).toString("hex"));
  readOrCreate(file("tokens.csv"), () => `${token},admin,admin,"system:masters"\n`);
  readOrCreate(file("service-accounts.key"), () => {
    const pair = generateKeyPairSync("rsa", { modulusLength: 2048 });
    return pair.privateKey.export({ type: "pkcs1", format: "pem" }).toString();
  });
  const url = `https://${address}:${port}`;
  const args = [
    `--etcd-servers=${options.etcdUrl}`,
    `--bind-address=${address}`,
    `--advertise-address=${address}`,
    `--secure-port=${port}`,
    `--cert-dir=${file("certificates")}`,
    "--service-cluster-ip-range=10.0.0.0/24",
    `--token-auth-file=${file("tokens.csv")}`,
    `--authorization-mode=${options.authorization ?? "AlwaysAllow"}`,
    "--service-account-issuer=https://kubernetes.default.svc",
    `--service-account-key-file=${file("service-accounts.key")}`,
    `--service-account-signing-key-file=${file("service-accounts.key")}`,
    ...(options.serviceAccounts ? [] : ["--disable-admission-plugins=ServiceAccount"]),
    // On the loopback address, the `kubernetes` Service has no endpoint.
    `--endpoint-reconciler-type=${address === LOOPBACK ? "none" : "lease"}`,
    "--max-requests-inflight=2000",
    "--max-mutating-requests-inflight=1000",
    ...(options.args ?? []),
  ];
  const server = await startServerProcess({
    name: "kube-apiserver",
    command,
    args,
    url,
    host: address,
    port,
    stopSignal: "SIGTERM",
    watchdog: options.watchdog,
    startTimeoutMs: 90_000,
    ready: () => isReady(url, { token, ca: file("certificates/apiserver.crt") }),
  });
  const ca = readFileSync(file("certificates/apiserver.crt"), "utf8");
  const kubeconfig = file("kubeconfig");
  writeFileSync(kubeconfig, kubeconfigText({ name: "local", server: url, token, ca }), { mode: 0o600 });
  return { ...server, kubeconfig, token, ca };
}

function readOrCreate(path: string, make: () => string): string {
  if (!existsSync(path)) writeFileSync(path, make(), { mode: 0o600 });
  return readFileSync(path, "utf8");
}

async function isReady(url: string, { token, ca }: { token: string; ca: string }): Promise<boolean> {
  // The server writes its certificate during the start.
  if (!existsSync(ca)) return false;
  return (await probeReadiness(url, { timeoutMs: 2_000, token, ca: readFileSync(ca, "utf8") })).ready;
}
