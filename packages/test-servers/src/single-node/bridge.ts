import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runCommand } from "./run-command.js";

/**
 * Network of a node's pods: one bridge, on which this machine has the first address. It has no
 * route to the outside.
 */
export interface PodNetwork {
  /** Address of this machine, as pods see it. */
  readonly address: string;
  /** Addresses of pods and of this machine, in CIDR notation. */
  readonly subnet: string;
  /** Folder of the network configuration for the container runtime. */
  readonly configDir: string;
}

const BRIDGE = "flyte-ts0";
const ADDRESS = "10.213.0.1";
const SUBNET = "10.213.0.0/16";
/**
 * Fixed hardware address of the bridge. A bridge without one takes the address of one of its ports,
 * which changes as pods come and go; running pods then no longer reach it.
 */
const HARDWARE_ADDRESS = "0a:58:0a:d5:00:01";

/** Creates the bridge before the first pod, for services and the kubelet to listen there. */
export async function createBridge(configDir: string): Promise<PodNetwork> {
  await removeBridge();
  await runCommand("ip", ["link", "add", BRIDGE, "address", HARDWARE_ADDRESS, "type", "bridge"]);
  await runCommand("ip", ["address", "add", `${ADDRESS}/16`, "dev", BRIDGE]);
  await runCommand("ip", ["link", "set", BRIDGE, "up"]);
  mkdirSync(configDir, { recursive: true });
  const network = {
    cniVersion: "1.0.0",
    name: "flyte-ts",
    plugins: [
      {
        type: "bridge",
        bridge: BRIDGE,
        isGateway: true,
        ipMasq: false,
        ipam: {
          type: "host-local",
          dataDir: join(configDir, "addresses"),
          ranges: [[{ subnet: SUBNET, gateway: ADDRESS }]],
          routes: [{ dst: "0.0.0.0/0" }],
        },
      },
    ],
  };
  writeFileSync(join(configDir, "10-flyte-ts.conflist"), JSON.stringify(network, null, 2));
  return { address: ADDRESS, subnet: SUBNET, configDir };
}

export async function removeBridge(): Promise<void> {
  await runCommand("ip", ["link", "delete", BRIDGE]).catch(() => undefined);
}
