import { execFile, execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { LocalServer } from "@flyte-ts/local-servers";
import { type KubernetesFixture, kubernetesFixture, kubernetesSkipReason } from "@flyte-ts/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { hasKubectl, kubernetesFolder, parseManifests } from "../deploy/manifests.js";
import { podOf } from "../deploy/pod.js";
import { root } from "../repository.js";
import { DEPLOYED } from "../services.js";
import { busUrl, startBus, startService } from "./deployed-plugin.fixture.js";
import { type BuiltImage, executeDockerfile } from "./image-steps.js";
import { startOwnRegistry } from "./own-registry.fixture.js";
import { codeBlocks, commands, writeFiles } from "./tutorial-page.js";

// Executes docs/plugins/deploy-a-plugin.md as far as it goes without a Docker engine: the steps of
// the image, the program with the settings of Docker Compose and of the Deployment, and the objects
// on a Kubernetes API. PLUGIN_TUTORIAL=install also executes its npm commands, which need the
// registry of npm.

const page = codeBlocks("docs/plugins/deploy-a-plugin.md");
const tutorial = codeBlocks("docs/plugins/write-a-plugin.md");
const [addPlugin = "", exportPlugins = "", composeUp = "", composeKill = "", createSecret = "", apply = ""] = commands(page, "sh");
const fileOf = (name: string) => page.find(({ file }) => file === name)?.text ?? "";
const USER = "plugin-http-job";
const PREFIX = "FLYTE_TS_PLUGIN_HTTP_JOB_";

const workspace = mkdtempSync(join(tmpdir(), "flyte-ts-deployed-"));
const context = join(workspace, "http-job");
const workdir = join(workspace, "app");
let image: BuiltImage;
let bus: LocalServer;
beforeAll(async () => {
  for (const folder of [context, workdir]) mkdirSync(folder);
  writeFiles([...tutorial, ...page], context);
  bus = await startBus(workspace, addPlugin);
  image = await buildImage();
}, 400_000);
afterAll(async () => {
  await bus?.stop();
  rmSync(workspace, { recursive: true, force: true });
});

test("the image has the Node of the platform and the user of its services", () => {
  const { engines } = JSON.parse(readFileSync(join(root, "packages/task-plugin/package.json"), "utf8")) as {
    readonly engines: { readonly node: string };
  };
  expect(engines.node).toContain(/^node:(\d+)-/.exec(image.from)?.[1]);
  expect(image.user).toBe("65532:65532");
});

describe("Docker Compose", () => {
  const ours = parse(readFileSync(join(root, "docker-compose.yml"), "utf8"), { merge: true }) as ComposeFile;
  const added = parse(fileOf("compose.yaml")) as ComposeFile;
  const service = added.services[USER] ?? {};

  test("the service refers to what the file of flyte-ts has, and is restricted like its services", () => {
    const { networks = [], depends_on: dependencies = {} } = service;
    expect(Object.keys(ours.networks ?? {})).toEqual(expect.arrayContaining([...networks]));
    expect(Object.keys(ours.services)).toEqual(expect.arrayContaining([...Object.keys(dependencies), "configure"]));
    expect(Object.keys(added.volumes ?? {})).toEqual([`secrets-${USER}`]);
    const { read_only, cap_drop, security_opt, restart } = ours.services["plugin-echo"] ?? {};
    expect(service).toMatchObject({ read_only, cap_drop, security_opt, restart });
    expect(composeUp).toContain("-f docker-compose.yml -f ../http-job/compose.yaml");
    expect(Object.keys(ours.services)).toContain(composeKill.split(" ").at(-1));
  });

  test("the program starts with the file that the first container writes", async () => {
    const secrets = join(workspace, "secrets");
    const mounted = /:\/secrets\/(\S+)$/.exec(added.services["configure"]?.volumes?.[0] ?? "")?.[1] ?? "";
    const folders = ["kept", "database", "bus", "blobs", "cluster", "owned", mounted, ...DEPLOYED.map(({ manifest }) => manifest.id)];
    for (const folder of folders) mkdirSync(join(secrets, folder), { recursive: true });
    const configure = `${exportPlugins}; exec "$0" deploy/compose/configure.mjs "$1" "$1/owned"`;
    execFileSync("sh", ["-c", configure, process.execPath, secrets], { cwd: root, stdio: "pipe" });
    const args = (service.command ?? []).map((word) => word.replace("/secrets/services", join(secrets, mounted)));
    const environment = { ...service.environment, [`${PREFIX}NATS__URL`]: busUrl(bus, USER) };
    const running = await startService(workdir, [...image.entrypoint, ...args], environment);
    await expect.poll(() => running.status("/readyz")).toBe(200);
    await running.stop();
  });
});

describe.skipIf(!hasKubectl() || (await kubernetesSkipReason()) !== undefined)("Kubernetes", () => {
  let kubernetes: KubernetesFixture;
  const run = (command: string, input = "") =>
    execFileSync("sh", ["-c", `exec 2>&1; ${command}`], {
      cwd: context,
      input,
      encoding: "utf8",
      env: { ...process.env, KUBECONFIG: kubernetes.kubeconfig },
    });
  beforeAll(async () => {
    kubernetes = await kubernetesFixture();
    run(`kubectl apply -f ${join(kubernetesFolder, "namespace", "namespace.yaml")}`);
  }, 120_000);
  afterAll(() => kubernetes?.stop());

  test("the commands create the objects, and the pod satisfies the restricted policy", () => {
    run(createSecret.replace("…", USER));
    const objects = parseManifests(fileOf("plugin.yaml"));
    expect(run(`${apply} --validate=strict`).trim().split("\n")).toEqual(
      objects.map(({ kind, metadata }) => expect.stringMatching(new RegExp(`^${kind.toLowerCase()}\\S*/${metadata.name} created$`))),
    );
    const pods = objects.flatMap((object) => podOf(object) ?? []);
    run("kubectl -n flyte create --dry-run=server --validate=strict -f -", pods.map((pod) => JSON.stringify(pod)).join("\n"));
  });

  test("the program starts with the variables of the Deployment, and its probes succeed", async () => {
    const [deployment, policy] = parseManifests(fileOf("plugin.yaml"));
    const pod = deployment === undefined ? undefined : podOf(deployment);
    const container = pod?.spec.containers[0] as unknown as DeployedContainer;
    const read = ({ name, key }: { readonly name: string; readonly key: string }) =>
      Buffer.from(run(`kubectl -n flyte get secret ${name} -o jsonpath='{.data.${key}}'`), "base64").toString();
    const environment = Object.fromEntries(
      container.env.map(({ name, value, valueFrom }) => [name, value ?? read(valueFrom?.secretKeyRef ?? { name: "", key: "" })]),
    );
    expect(container.ports).toEqual([{ name: "ops", containerPort: Number(environment[`${PREFIX}OPS__PORT`]) }]);
    const url = new URL(environment[`${PREFIX}NATS__URL`] ?? "");
    const [{ ports }] = (policy as unknown as NetworkPolicy).spec.egress;
    expect(ports.map(({ port }) => String(port))).toContain(url.port);
    expect([url.username, url.password]).toEqual([USER, USER]);
    url.host = `127.0.0.1:${bus.port}`;
    const running = await startService(workdir, image.entrypoint, { ...environment, [`${PREFIX}NATS__URL`]: url.href });
    for (const { httpGet } of [container.readinessProbe, container.livenessProbe])
      await expect.poll(() => running.status(httpGet.path)).toBe(200);
    await running.stop();
  });
});

interface ComposeFile {
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly networks?: object;
  readonly volumes?: object;
}

interface ComposeService {
  readonly networks?: readonly string[];
  readonly depends_on?: object;
  readonly volumes?: readonly string[];
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
}

interface DeployedContainer {
  readonly ports: readonly object[];
  readonly env: readonly {
    readonly name: string;
    readonly value?: string;
    readonly valueFrom?: { readonly secretKeyRef: { readonly name: string; readonly key: string } };
  }[];
  readonly readinessProbe: { readonly httpGet: { readonly path: string } };
  readonly livenessProbe: { readonly httpGet: { readonly path: string } };
}

interface NetworkPolicy {
  readonly spec: { readonly egress: readonly [{ readonly ports: readonly { readonly port: number }[] }] };
}

async function buildImage(): Promise<BuiltImage> {
  const steps = fileOf("Dockerfile");
  if (process.env["PLUGIN_TUTORIAL"] !== "install") {
    // The packages of this tree stand for installed ones.
    writeFileSync(join(context, "package-lock.json"), "{}");
    const run = () => Promise.resolve(symlinkSync(join(root, "node_modules"), join(workdir, "node_modules")));
    return executeDockerfile(steps, { context, workdir, run });
  }
  const registry = await startOwnRegistry(workspace);
  const env = { ...process.env, ...registry.environment, NODE_OPTIONS: "" };
  const shell = (command: string, cwd: string) => promisify(execFile)("sh", ["-c", command], { cwd, env });
  const [install = ""] = commands(tutorial, "bash");
  await shell(install, context);
  const built = await executeDockerfile(steps, { context, workdir, run: async (command) => void (await shell(command, workdir)) });
  await registry.stop();
  return built;
}
