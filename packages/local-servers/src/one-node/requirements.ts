import { existsSync } from "node:fs";
import { onPath } from "../cache-folder.js";

/** Folders of the network plugins: Debian's, other distributions', and a manual installation's. */
const NETWORK_PLUGINS = ["/usr/lib/cni", "/usr/libexec/cni", "/opt/cni/bin"];

const PROGRAMS = ["containerd", "ctr", "runc", "ip", "iptables", "openssl", "tar", "kubectl"];

export function networkPlugins(): string | undefined {
  return NETWORK_PLUGINS.find((folder) => existsSync(`${folder}/bridge`) && existsSync(`${folder}/host-local`));
}

/** Lists in one line the requirements of a node that this machine lacks; undefined when there are none. */
export function missingForNode(): string | undefined {
  if (process.platform !== "linux") return "a node needs Linux";
  if (process.getuid?.() !== 0) return "a node needs root";
  const missing = PROGRAMS.filter((program) => onPath(program) === undefined);
  if (networkPlugins() === undefined) missing.push("containernetworking-plugins");
  return missing.length === 0 ? undefined : `not installed: ${missing.join(", ")} (deploy/one-node/install.sh)`;
}
