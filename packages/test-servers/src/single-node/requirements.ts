import { existsSync } from "node:fs";
import { findOnPath } from "@flyte-ts/host";

/** Folders of the network plugins: Debian's, other distributions', and a manual installation's. */
const NETWORK_PLUGIN_DIRS = ["/usr/lib/cni", "/usr/libexec/cni", "/opt/cni/bin"];

const PROGRAMS = ["containerd", "ctr", "runc", "ip", "iptables", "openssl", "tar", "kubectl"];

export function findNetworkPlugins(): string | undefined {
  return NETWORK_PLUGIN_DIRS.find((folder) => existsSync(`${folder}/bridge`) && existsSync(`${folder}/host-local`));
}

/**
 * Lists in one line the requirements of a node that this machine lacks; undefined when there are
 * none.
 */
export function missingNodeRequirements(): string | undefined {
  if (process.platform !== "linux") return "a node needs Linux";
  if (process.getuid?.() !== 0) return "a node needs root";
  const missing = PROGRAMS.filter((program) => findOnPath(program) === undefined);
  if (findNetworkPlugins() === undefined) missing.push("containernetworking-plugins");
  return missing.length === 0 ? undefined : `not installed: ${missing.join(", ")} (deploy/one-node/install.sh)`;
}
