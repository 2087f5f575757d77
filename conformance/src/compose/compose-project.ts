import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "@flyte-ts/host";
import { DEPLOYED } from "../services.js";
import { listeningSockets } from "../stack/sockets.js";
import { root } from "../repository.js";

/** Revision label of the test images. */
export const REVISION = "0123456789abcdef0123456789abcdef01234567";

/** Services of flyte-ts that run without a profile. */
export const DEPLOYED_IDS: readonly string[] = DEPLOYED.filter(({ manifest }) => !manifest.optional).map(({ manifest }) => manifest.id);

/** Names in docker-compose.yml of the containers that run permanently. */
export const COMPOSE_SERVICES: readonly string[] = ["postgres", "nats", "blobs", "cluster", "api", ...DEPLOYED_IDS];

export interface ContainerAddress {
  readonly address: string;
  /** Sorted ports that accept connections from other machines. */
  readonly ports: readonly number[];
}

/** Fields of `docker inspect`. */
interface InspectedContainer {
  readonly Config: { readonly Labels: Readonly<Record<string, string>> };
  readonly NetworkSettings: { readonly Networks: Readonly<Record<string, { readonly IPAddress: string }>> };
  readonly State: { readonly Pid: number };
}

/**
 * Runs docker-compose.yml as a separate project on free ports, so that another project on this
 * machine is not affected.
 */
export class ComposeProject {
  private constructor(
    private readonly name: string,
    /** Port of the API. */
    readonly api: number,
    private readonly environment: NodeJS.ProcessEnv,
  ) {}

  /**
   * Builds the images. With `E2E_STAND_INS=1`, for machines that reach no registry, first builds
   * replacements of the public images. `settings` are variables of docker-compose.yml.
   */
  static async build(name: string, settings: Readonly<Record<string, string>> = {}): Promise<ComposeProject> {
    const [api, blobs, cluster] = [await freePort(), await freePort(), await freePort()];
    const ports = {
      FLYTE_TS_REVISION: REVISION,
      FLYTE_TS_PORT: String(api),
      FLYTE_TS_BLOB_PORT: String(blobs),
      FLYTE_TS_CLUSTER_PORT: String(cluster),
    };
    const project = new ComposeProject(name, api, { ...process.env, ...ports, ...settings });
    if (process.env.E2E_STAND_INS === "1") {
      const folder = join(root, "deploy", "stand-ins");
      // Another test file may build at the same time, so take a lock. The Docker engine keeps
      // running after its script and must not inherit the lock (`-o`).
      for (const script of ["engine.sh", "make.sh"])
        execFileSync("flock", ["-o", folder, "sh", join(folder, script)], { stdio: "inherit" });
    }
    project.compose("build", "--quiet");
    return project;
  }

  /** Runs `docker compose …` and returns its output. */
  compose(...args: string[]): string {
    return this.#docker("compose", "-p", this.name, "--progress", "quiet", ...args);
  }

  /**
   * Creates a client of the built-in issuer, with which {@link pyflyte} signs in from now on.
   * Returns its secret.
   */
  addClient(clientId: string): string {
    const accounts = ["/usr/local/bin/node", "/app/services/admin/dist/accounts/main.js", "service", clientId];
    const config = ["--config", "/etc/flyte/admin.yaml", "--config", "/secrets/services/admin.yaml"];
    const secret = this.compose("exec", "-T", "admin", ...accounts, ...config).trim();
    this.environment.FLYTE_CREDENTIALS_AUTH_MODE = "client_credentials";
    this.environment.FLYTE_CREDENTIALS_CLIENT_ID = clientId;
    this.environment.FLYTE_CREDENTIALS_CLIENT_SECRET = secret;
    return secret;
  }

  /** Runs the unmodified pyflyte of the task image in the folder. */
  pyflyte(folder: string, ...args: string[]): string {
    const platform = ["-e", `FLYTE_PLATFORM_URL=localhost:${this.api}`, "-e", "FLYTE_PLATFORM_INSECURE=true", "-e", "HOME=/tmp"];
    // Docker reads the values from its environment, because every user of the machine may read
    // command lines.
    const names = Object.keys(this.environment).filter((name) => name.startsWith("FLYTE_CREDENTIALS_"));
    const credentials = names.flatMap((name) => ["-e", name]);
    const place = ["-v", `${folder}:/scripts:ro`, "-w", "/scripts", "--network", "host", "--entrypoint", "/opt/python/bin/pyflyte"];
    return this.#docker(
      "run",
      "--rm",
      ...place,
      ...platform,
      ...credentials,
      `flyte-ts/cluster:${process.env.FLYTE_TS_VERSION ?? "dev"}`,
      ...args,
    );
  }

  /**
   * Returns the addresses and ports at which this machine reaches the containers, published or not.
   */
  containers(): Readonly<Record<string, ContainerAddress>> {
    const ids = this.compose("ps", "-q").trim().split("\n");
    const inspected = JSON.parse(this.#docker("inspect", ...ids)) as InspectedContainer[];
    const entries = inspected.map(({ Config, NetworkSettings, State }) => {
      const addresses = Object.values(NetworkSettings.Networks).map(({ IPAddress }) => IPAddress);
      return [Config.Labels["com.docker.compose.service"], { address: addresses[0], ports: listeningPorts(State.Pid) }];
    });
    return Object.fromEntries(entries) as Record<string, ContainerAddress>;
  }

  /** Names of the containers that do not report healthy. */
  unhealthy(): string[] {
    const states = this.compose("ps", "--format", "{{.Service}} {{.Health}}").trim().split("\n");
    return states.filter((line) => !line.endsWith(" healthy"));
  }

  async waitUntilHealthy(timeoutMs: number): Promise<void> {
    for (const deadline = Date.now() + timeoutMs; ; await sleep(1_000)) {
      const unhealthy = this.unhealthy();
      if (unhealthy.length === 0) return;
      if (Date.now() > deadline) throw new Error(`not healthy: ${unhealthy.join(", ")}\n${this.compose("logs", "--tail", "20")}`);
    }
  }

  /** Exit codes of the containers that have exited, by service. */
  exitCodes(): Readonly<Record<string, number>> {
    const lines = this.compose("ps", "-a", "--status", "exited", "--format", "{{.Service}} {{.ExitCode}}").trim().split("\n");
    return Object.fromEntries(lines.map((line) => [line.split(" ")[0] ?? "", Number(line.split(" ")[1])]));
  }

  /** Inspects an image of this project. */
  image(name: string): { readonly Config: { readonly User: string; readonly Labels: Readonly<Record<string, string>> } } {
    const [image] = JSON.parse(this.#docker("image", "inspect", `flyte-ts/${name}:${process.env.FLYTE_TS_VERSION ?? "dev"}`)) as [
      ReturnType<ComposeProject["image"]>,
    ];
    return image;
  }

  /** Removes containers, networks and volumes. */
  remove(): void {
    this.compose("down", "--volumes", "--timeout", "20");
  }

  #docker(...args: string[]): string {
    try {
      return execFileSync("docker", args, {
        cwd: root,
        env: this.environment,
        encoding: "utf8",
        stdio: ["ignore", "pipe", "pipe"],
        maxBuffer: 64 << 20,
      });
    } catch (error) {
      const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string };
      throw new Error(`docker ${args.slice(0, 8).join(" ")} …\n${stdout.slice(-4_000)}${stderr.slice(-4_000)}`, { cause: error });
    }
  }
}

/**
 * Lists the TCP ports on which the network namespace of a process listens, without those on
 * loopback addresses.
 */
function listeningPorts(pid: number): number[] {
  const open = listeningSockets(pid).filter(({ address }) => !LOOPBACK.test(address));
  return [...new Set(open.map(({ port }) => port))].sort((one, other) => one - other);
}

/** 127.0.0.0/8 and ::1, in the byte order of /proc/net/tcp. */
const LOOPBACK = /^([0-9A-F]{6}7F|0{24}01000000)$/;
