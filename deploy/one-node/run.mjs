// `node deploy/one-node/run.mjs [--data DIR]`: runs a real Kubernetes cluster of one node on this
// machine until Ctrl-C. Needs root.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { ensureBuilt, ensureInstalled, root } from "../../scripts/prepare.mjs";

const { values } = parseArgs({
  options: {
    // State, logs of the node, and the kubeconfig. Default: a temporary folder.
    data: { type: "string" },
    // Install and build, as for tests.
    built: { type: "boolean", default: false },
    // Further settings of KubeletConfiguration, JSON.
    kubelet: { type: "string", default: "{}" },
    // Lets pods reach Services by name: starts CoreDNS and kube-proxy.
    services: { type: "boolean", default: false },
    // Further images as JSON: names, root (folder), env, entrypoint.
    image: { type: "string", multiple: true, default: [] },
    // Further flags, each with its dashes.
    apiserver: { type: "string", multiple: true, default: [] },
    controllers: { type: "string", multiple: true, default: [] },
  },
});

if (!values.built) {
  await ensureInstalled();
  await ensureBuilt();
}
execFileSync(join(import.meta.dirname, "install.sh"), { stdio: "inherit" });
const { startWatchdog } = await import("@flyte-ts/host");
const { startSingleNodeCluster } = await import("@flyte-ts/test-servers");
const folder = values.data ?? mkdtempSync(join(tmpdir(), "flyte-ts-one-node-"));
const cluster = await startSingleNodeCluster({
  stateDir: folder,
  images: [flytekit(), copilot(), ...values.image.map((image) => JSON.parse(image))],
  services: values.services,
  kubelet: JSON.parse(values.kubelet),
  args: { apiserver: values.apiserver, controllers: values.controllers },
  watchdog: startWatchdog(),
  onProgress: (what) => process.stdout.write(`  ${what} (once) …\n`),
});
process.stdout.write(`
ready
  kubectl    export KUBECONFIG=${cluster.kubeconfig}
  flyte-ts   npm start -- --kubeconfig ${cluster.kubeconfig} --host ${cluster.address}
`);
let ending = false;
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, end);

async function end() {
  if (ending) process.exit(130);
  ending = true;
  await cluster.stop();
  if (values.data === undefined) rmSync(folder, { recursive: true, force: true });
  process.exit(0);
}

/** Image name that flytekit gives to tasks of this version by default. */
function flytekit() {
  const made = execFileSync(join(import.meta.dirname, "flytekit-root.sh"), { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
  const version = /^flytekit==(.+)$/m.exec(readFileSync(join(root, "examples", "python", "requirements.txt"), "utf8"))[1];
  const path = "PATH=/opt/venv/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
  // Raw containers of the examples need a shell, which this image contains, and no registry.
  const names = [`cr.flyte.org/flyteorg/flytekit:py3.11-${version}`, "docker.io/library/alpine:3.22"];
  // The published image of flytekit has this working folder, also on its path.
  return { names, root: made.trim(), env: [path, "LANG=C.UTF-8", "PYTHONPATH=/root"], workingDir: "/root" };
}

/** Image that the pod plugin adds to the pods of raw containers. */
function copilot() {
  const made = execFileSync(process.execPath, [join(import.meta.dirname, "copilot-root.mjs")], { encoding: "utf8" });
  return { names: ["docker.io/flyte-ts/copilot:latest"], root: made.trim() };
}
