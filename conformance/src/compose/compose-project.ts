import { execFileSync } from "node:child_process";
import { dirname, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { freePort } from "@flyte-ts/local-servers";

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

/** docker-compose.yml as a project of its own, on free ports: another that runs on this machine stays as it is. */
export class ComposeProject {
  private constructor(
    private readonly name: string,
    /** Port of the API. */
    readonly api: number,
    private readonly environment: NodeJS.ProcessEnv,
  ) {}

  /** Builds the images; where no registry is reachable, stand-ins for the public ones first (`E2E_STAND_INS=1`). */
  static async build(name: string): Promise<ComposeProject> {
    const [api, blobs, cluster] = [await freePort(), await freePort(), await freePort()];
    const ports = {
      FLYTE_TS_REVISION: REVISION,
      FLYTE_TS_PORT: String(api),
      FLYTE_TS_BLOB_PORT: String(blobs),
      FLYTE_TS_CLUSTER_PORT: String(cluster),
    };
    const project = new ComposeProject(name, api, { ...process.env, ...ports });
    if (process.env.E2E_STAND_INS === "1") {
      execFileSync("sh", [join(root, "deploy", "stand-ins", "engine.sh")], { stdio: "inherit" });
      execFileSync("sh", [join(root, "deploy", "stand-ins", "make.sh")], { stdio: "inherit" });
    }
    project.compose("build", "--quiet");
    return project;
  }

  /** `docker compose …`; gives what it prints. */
  compose(...words: string[]): string {
    return this.#docker("compose", "-p", this.name, "--progress", "quiet", ...words);
  }

  /** Stock pyflyte, as it stands in the image in which tasks run, in the folder. */
  pyflyte(folder: string, ...words: string[]): string {
    const platform = ["-e", `FLYTE_PLATFORM_URL=localhost:${this.api}`, "-e", "FLYTE_PLATFORM_INSECURE=true", "-e", "HOME=/tmp"];
    const place = ["-v", `${folder}:/scripts:ro`, "-w", "/scripts", "--network", "host", "--entrypoint", "/opt/python/bin/pyflyte"];
    return this.#docker("run", "--rm", ...place, ...platform, `flyte-ts/cluster:${process.env.FLYTE_TS_VERSION ?? "dev"}`, ...words);
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
