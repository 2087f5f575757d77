import { execFileSync } from "node:child_process";
import { dirname, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { freePort } from "@flyte-ts/host";
import { listeningSockets } from "../stack/sockets.js";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..", "..", "..");

/** The commit that images are said to be of. */
export const REVISION = "0123456789abcdef0123456789abcdef01234567";

/** Names of docker-compose.yml, those of containers that run all the time. */
export const COMPOSE_SERVICES = [
  "postgres",
  "nats",
  "blobs",
  "cluster",
  "admin",
  "api",
  "datacatalog",
  "scheduler",
  "propeller",
  "plugin-pod",
  "plugin-echo",
] as const;

export type ComposeService = (typeof COMPOSE_SERVICES)[number];

export interface ContainerAddress {
  readonly address: string;
  /** Ports that accept connections from other machines, sorted. */
  readonly ports: readonly number[];
}

/** Fields of `docker inspect`. */
interface InspectedContainer {
  readonly Config: { readonly Labels: Readonly<Record<string, string>> };
  readonly NetworkSettings: { readonly Networks: Readonly<Record<string, { readonly IPAddress: string }>> };
  readonly State: { readonly Pid: number };
}

/** docker-compose.yml as a project of its own, on free ports: another that runs on this machine stays as it is. */
export class ComposeProject {
  private constructor(
    private readonly name: string,
    /** Port of the API. */
    readonly api: number,
    private readonly environment: NodeJS.ProcessEnv,
  ) {}

  /**
   * Builds the images; where no registry is reachable, stand-ins for the public ones first (`E2E_STAND_INS=1`).
   * `settings` are variables of docker-compose.yml.
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
      // Another test file may ask for the same at the same time. The engine outlives its script and must not keep the lock (`-o`).
      for (const script of ["engine.sh", "make.sh"])
        execFileSync("flock", ["-o", folder, "sh", join(folder, script)], { stdio: "inherit" });
    }
    project.compose("build", "--quiet");
    return project;
  }

  /** `docker compose …`; gives what it prints. */
  compose(...words: string[]): string {
    return this.#docker("compose", "-p", this.name, "--progress", "quiet", ...words);
  }

  /** Makes a client of the built-in issuer, as whom {@link pyflyte} signs in from now on; gives its secret. */
  addClient(clientId: string): string {
    const accounts = ["/usr/local/bin/node", "/app/services/admin/dist/accounts/main.js", "service", clientId];
    const config = ["--config", "/etc/flyte/admin.yaml", "--config", "/secrets/services/admin.yaml"];
    const secret = this.compose("exec", "-T", "admin", ...accounts, ...config).trim();
    this.environment.FLYTE_CREDENTIALS_AUTH_MODE = "client_credentials";
    this.environment.FLYTE_CREDENTIALS_CLIENT_ID = clientId;
    this.environment.FLYTE_CREDENTIALS_CLIENT_SECRET = secret;
    return secret;
  }

  /** Stock pyflyte, as it stands in the image in which tasks run, in the folder. */
  pyflyte(folder: string, ...words: string[]): string {
    const platform = ["-e", `FLYTE_PLATFORM_URL=localhost:${this.api}`, "-e", "FLYTE_PLATFORM_INSECURE=true", "-e", "HOME=/tmp"];
    // Docker reads their values from its environment: every user of the machine may read command lines.
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
      ...words,
    );
  }

  /** Gives the addresses and ports at which this machine reaches the containers, published or not. */
  containers(): Readonly<Record<ComposeService, ContainerAddress>> {
    const ids = this.compose("ps", "-q").trim().split("\n");
    const inspected = JSON.parse(this.#docker("inspect", ...ids)) as InspectedContainer[];
    const entries = inspected.map(({ Config, NetworkSettings, State }) => {
      const addresses = Object.values(NetworkSettings.Networks).map(({ IPAddress }) => IPAddress);
      return [Config.Labels["com.docker.compose.service"], { address: addresses[0], ports: listeningPorts(State.Pid) }];
    });
    return Object.fromEntries(entries) as Record<ComposeService, ContainerAddress>;
  }

  /** Names of those containers that do not say that they are well. */
  unwell(): string[] {
    const states = this.compose("ps", "--format", "{{.Service}} {{.Health}}").trim().split("\n");
    return states.filter((line) => !line.endsWith(" healthy"));
  }

  async untilWell(patienceMs: number): Promise<void> {
    for (const deadline = Date.now() + patienceMs; ; await sleep(1_000)) {
      const unwell = this.unwell();
      if (unwell.length === 0) return;
      if (Date.now() > deadline) throw new Error(`not healthy: ${unwell.join(", ")}\n${this.compose("logs", "--tail", "20")}`);
    }
  }

  /** Exit statuses of the containers that have ended, by service. */
  exitCodes(): Readonly<Record<string, number>> {
    const lines = this.compose("ps", "-a", "--status", "exited", "--format", "{{.Service}} {{.ExitCode}}").trim().split("\n");
    return Object.fromEntries(lines.map((line) => [line.split(" ")[0] ?? "", Number(line.split(" ")[1])]));
  }

  /** What the engine knows of an image of ours. */
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

  #docker(...words: string[]): string {
    try {
      return execFileSync("docker", words, {
        cwd: root,
        env: this.environment,
        encoding: "utf8",
        stdio: ["ignore", "pipe", "pipe"],
        maxBuffer: 64 << 20,
      });
    } catch (error) {
      const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string };
      throw new Error(`docker ${words.slice(0, 8).join(" ")} …\n${stdout.slice(-4_000)}${stderr.slice(-4_000)}`, { cause: error });
    }
  }
}

/** Gives the TCP ports on which the network of a process listens, but for those of its loopback addresses. */
function listeningPorts(pid: number): number[] {
  const open = listeningSockets(pid).filter(({ address }) => !LOOPBACK.test(address));
  return [...new Set(open.map(({ port }) => port))].sort((one, other) => one - other);
}

/** 127.0.0.0/8 and ::1, in the byte order of /proc/net/tcp. */
const LOOPBACK = /^([0-9A-F]{6}7F|0{24}01000000)$/;
