import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort, type ProcessWatchdog } from "@flyte-ts/host";
import { type LocalServer, startServerProcess } from "@flyte-ts/local-servers";
import { runCommand } from "./run-command.js";
import { appendOutputTo } from "./log-file.js";

/** Image of the process that holds a pod's namespaces. */
export const PAUSE_IMAGE = "flyte-ts/pause:1";

export interface ContainerdOptions {
  /** Images and containers, kept between runs. */
  readonly rootDir: string;
  /** Sockets and configuration of this run. */
  readonly stateDir: string;
  /** Configuration folder of the pods' network. */
  readonly networkConfigDir: string;
  /** Folder of the network plugins. */
  readonly networkPluginDir: string;
  readonly logFile: string;
  readonly watchdog?: ProcessWatchdog | undefined;
}

export interface Containerd extends LocalServer {
  readonly socket: string;
  /** Runs containerd's own client in the namespace of Kubernetes. */
  ctr(...args: string[]): Promise<string>;
}

/** Starts Debian's containerd for one node, apart from any other on this machine. */
export async function startContainerd(options: ContainerdOptions): Promise<Containerd> {
  const { rootDir, stateDir, logFile, watchdog } = options;
  for (const folder of [rootDir, stateDir]) mkdirSync(folder, { recursive: true, mode: 0o711 });
  const socket = join(stateDir, "containerd.sock");
  const port = await freePort();
  const file = join(stateDir, "containerd.toml");
  writeFileSync(file, configuration(options, { socket, port }));
  const server = await startServerProcess({
    name: "containerd",
    command: "containerd",
    args: ["--config", file, "--log-level", "info"],
    options: appendOutputTo(logFile),
    url: `unix://${socket}`,
    port,
    stopSignal: "SIGTERM",
    watchdog,
    startTimeoutMs: 30_000,
  });
  const ctr = (...args: string[]) => runCommand("ctr", ["--address", socket, "--namespace", "k8s.io", ...args]);
  return { ...server, socket, ctr };
}

function configuration(
  { rootDir, stateDir, networkConfigDir, networkPluginDir }: ContainerdOptions,
  at: { socket: string; port: number },
): string {
  const cri = 'plugins."io.containerd.grpc.v1.cri"';
  return `version = 2
root = "${rootDir}"
state = "${stateDir}"

[grpc]
address = "${at.socket}"

[metrics]
address = "127.0.0.1:${at.port}"

[${cri}]
sandbox_image = "${PAUSE_IMAGE}"
# In a container or a small virtual machine, processes may not lower their OOM score.
restrict_oom_score_adj = true
stream_server_address = "127.0.0.1"

[${cri}.cni]
bin_dir = "${networkPluginDir}"
conf_dir = "${networkConfigDir}"

[${cri}.containerd]
snapshotter = "overlayfs"
default_runtime_name = "runc"

[${cri}.containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"

[${cri}.containerd.runtimes.runc.options]
SystemdCgroup = false
`;
}
