import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../free-port.js";
import type { Guard } from "../guard.js";
import { type LocalServer, startServerProcess } from "../server-process.js";
import { command } from "./command.js";
import { logTo } from "./log-file.js";

/** Image of the process that holds a pod's namespaces. */
export const PAUSE_IMAGE = "flyte-ts/pause:1";

export interface ContainerdOptions {
  /** Images and containers, kept between runs. */
  readonly root: string;
  /** Sockets and configuration of this run. */
  readonly state: string;
  /** Configuration folder of the pods' network. */
  readonly networkFolder: string;
  /** Folder of the network plugins. */
  readonly networkPlugins: string;
  readonly logFile: string;
  readonly guard?: Guard | undefined;
}

export interface Containerd extends LocalServer {
  readonly socket: string;
  /** Runs containerd's own client in the namespace of Kubernetes. */
  ctr(...args: string[]): Promise<string>;
}

/** Starts Debian's containerd for one node, apart from any other on this machine. */
export async function startContainerd(options: ContainerdOptions): Promise<Containerd> {
  const { root, state, logFile, guard } = options;
  for (const folder of [root, state]) mkdirSync(folder, { recursive: true, mode: 0o711 });
  const socket = join(state, "containerd.sock");
  const port = await freePort();
  const file = join(state, "containerd.toml");
  writeFileSync(file, configuration(options, { socket, port }));
  const server = await startServerProcess({
    name: "containerd",
    command: "containerd",
    args: ["--config", file, "--log-level", "info"],
    options: logTo(logFile),
    url: `unix://${socket}`,
    port,
    stopSignal: "SIGTERM",
    guard,
    patienceMs: 30_000,
  });
  const ctr = (...args: string[]) => command("ctr", ["--address", socket, "--namespace", "k8s.io", ...args]);
  return { ...server, socket, ctr };
}

function configuration({ root, state, networkFolder, networkPlugins }: ContainerdOptions, at: { socket: string; port: number }): string {
  const cri = 'plugins."io.containerd.grpc.v1.cri"';
  return `version = 2
root = "${root}"
state = "${state}"

[grpc]
address = "${at.socket}"

[metrics]
address = "127.0.0.1:${at.port}"

[${cri}]
sandbox_image = "${PAUSE_IMAGE}"
# In a container or a small virtual machine nobody may lower the score by which the kernel chooses whom to kill.
restrict_oom_score_adj = true
stream_server_address = "127.0.0.1"

[${cri}.cni]
bin_dir = "${networkPlugins}"
conf_dir = "${networkFolder}"

[${cri}.containerd]
snapshotter = "overlayfs"
default_runtime_name = "runc"

[${cri}.containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"

[${cri}.containerd.runtimes.runc.options]
SystemdCgroup = false
`;
}
