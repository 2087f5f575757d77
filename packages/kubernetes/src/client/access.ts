import { existsSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import type { ConnectionOptions } from "node:tls";
import { readStaticKubeconfig } from "./static-kubeconfig.js";

export interface AccessOptions {
  /**
   * Path of a kubeconfig file. Default: the file in KUBECONFIG or ~/.kube/config; without either,
   * in a pod, its service account.
   */
  readonly kubeconfig?: string | undefined;
  /** Context of that file; default its current one. */
  readonly context?: string | undefined;
  /** Use the service account of the pod that this process runs in. */
  readonly inCluster?: boolean | undefined;
  /** Address of the API; `auth` then holds the credentials. */
  readonly endpoint?: string | undefined;
  readonly auth?:
    | {
        /** File with a bearer token. */
        readonly tokenPath?: string | undefined;
        /** File with the CA certificate of the API server, PEM. */
        readonly certPath?: string | undefined;
      }
    | undefined;
  /**
   * Folder of the pod's service account, with `token` and `ca.crt`. Default: where Kubernetes
   * mounts it.
   */
  readonly serviceAccountDir?: string | undefined;
}

/** Address and credentials of an API server. */
export interface ApiAccess {
  /** Address, with the path below which the API is served, if any. */
  readonly server: string;
  readonly tls: ConnectionOptions;
  /** Called for each request, since tokens expire. */
  authorization(): Promise<string | undefined>;
}

const SERVICE_ACCOUNT_DIR = "/var/run/secrets/kubernetes.io/serviceaccount";
const TOKEN_TTL_MS = 60_000;

/**
 * Reads the access from a kubeconfig or from the pod's service account. The official client does
 * the loading and the auth providers (exec plugins, OIDC …).
 */
export async function loadAccess(options: AccessOptions): Promise<ApiAccess> {
  const { serviceAccountDir = SERVICE_ACCOUNT_DIR } = options;
  if (options.endpoint !== undefined) return endpointAccess(options.endpoint, options.auth ?? {});
  if (options.inCluster || (options.kubeconfig === undefined && !hasDefaultKubeconfig() && isPod(serviceAccountDir)))
    return inClusterAccess(serviceAccountDir);
  const file = options.kubeconfig ?? (process.env.KUBECONFIG || join(homedir(), ".kube", "config"));
  const staticAccess = existsSync(file) ? readStaticKubeconfig(file, options.context) : undefined;
  if (staticAccess !== undefined) {
    const { server, tls, token, tokenFile } = staticAccess;
    const authorization = tokenFile === undefined ? () => Promise.resolve(token && `Bearer ${token}`) : tokenOfFile(tokenFile);
    return withoutCredentialsOverHttp({ server, tls, authorization });
  }
  const { KubeConfig } = await import("@kubernetes/client-node");
  const config = new KubeConfig();
  if (options.kubeconfig === undefined) config.loadFromDefault();
  else config.loadFromFile(options.kubeconfig);
  if (options.context !== undefined) config.setCurrentContext(options.context);
  const cluster = config.getCurrentCluster();
  if (cluster === null) throw new Error(`kubeconfig ${options.kubeconfig ?? "(default)"}: the current context names no cluster`);
  if (cluster.proxyUrl !== undefined)
    throw new Error(`kubeconfig ${options.kubeconfig ?? "(default)"}: proxy-url of cluster ${cluster.name} is not supported`);
  // Plain HTTP is for a cluster on this machine; no secrets are sent over it.
  if (cluster.server.startsWith("http:")) return { server: cluster.server, tls: {}, authorization: () => Promise.resolve(undefined) };
  const user = config.getCurrentUser();
  if (user?.token !== undefined && user.token !== "") {
    const token = `Bearer ${user.token}`;
    return { server: cluster.server, tls: await tlsOptions(config), authorization: () => Promise.resolve(token) };
  }
  const authorize = cacheToken(async () => {
    const request: { headers?: Record<string, unknown>; auth?: string } = { headers: {} };
    await config.applyToHTTPSOptions(request as never);
    if (request.auth !== undefined) return `Basic ${Buffer.from(request.auth).toString("base64")}`;
    const header = request.headers?.Authorization ?? request.headers?.authorization;
    return typeof header === "string" ? header : undefined;
  });
  return { server: cluster.server, tls: await tlsOptions(config), authorization: authorize };
}

function endpointAccess(endpoint: string, { tokenPath, certPath }: NonNullable<AccessOptions["auth"]>): ApiAccess {
  const server = endpoint.replace(/\/+$/, "");
  const tls = certPath === undefined ? {} : { ca: readFileSync(certPath) };
  const authorization = tokenPath ? tokenOfFile(tokenPath) : () => Promise.resolve(undefined);
  return withoutCredentialsOverHttp({ server, tls, authorization });
}

function withoutCredentialsOverHttp({ server, tls, authorization }: ApiAccess): ApiAccess {
  // Plain HTTP is for a cluster on this machine; no secrets are sent over it.
  if (server.startsWith("http:")) return { server, tls: {}, authorization: () => Promise.resolve(undefined) };
  return { server, tls, authorization };
}

async function tlsOptions(config: { applyToHTTPSOptions(options: never): Promise<void> }): Promise<ConnectionOptions> {
  const options: ConnectionOptions = {};
  await config.applyToHTTPSOptions(Object.assign(options, { headers: {} }) as never);
  const { ca, cert, key, pfx, passphrase, rejectUnauthorized, servername } = options;
  return Object.fromEntries(
    Object.entries({ ca, cert, key, pfx, passphrase, rejectUnauthorized, servername }).filter(([, value]) => value !== undefined),
  );
}

function hasDefaultKubeconfig(): boolean {
  return Boolean(process.env.KUBECONFIG) || existsSync(join(homedir(), ".kube", "config"));
}

function isPod(serviceAccountDir: string): boolean {
  return Boolean(process.env.KUBERNETES_SERVICE_HOST) && existsSync(join(serviceAccountDir, "token"));
}

function inClusterAccess(serviceAccountDir: string): ApiAccess {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = process.env;
  if (!host || !port)
    throw new Error("in-cluster access: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set, this is not a pod");
  return {
    server: `https://${host.includes(":") ? `[${host}]` : host}:${port}`,
    tls: { ca: readFileSync(`${serviceAccountDir}/ca.crt`) },
    authorization: tokenOfFile(`${serviceAccountDir}/token`),
  };
}

/** Reads the token again every minute: another program renews it. */
function tokenOfFile(path: string): () => Promise<string | undefined> {
  return cacheToken(async () => `Bearer ${(await readFile(path, "utf8")).trim()}`);
}

function cacheToken(read: () => Promise<string | undefined>): () => Promise<string | undefined> {
  let value: Promise<string | undefined> | undefined;
  let until = 0;
  return () => {
    if (value === undefined || Date.now() > until) {
      until = Date.now() + TOKEN_TTL_MS;
      value = read();
      value.catch(() => {
        value = undefined;
      });
    }
    return value;
  };
}
