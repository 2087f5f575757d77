import { runCommand } from "./run-command.js";
import type { Containerd } from "./containerd.js";

/** Lets the kubelet remove every pod, with its network, and waits for it. */
export async function removePods(kubeconfig: string, containerd: Containerd): Promise<void> {
  const remove = ["delete", "pods", "--all", "--all-namespaces", "--grace-period=1", "--timeout=20s", "--ignore-not-found"];
  await runCommand("kubectl", ["--kubeconfig", kubeconfig, ...remove]).catch(() => undefined);
  await removeContainers(containerd);
}

/** Ends all running containers, with their networks: containers outlive containerd. */
export async function removeContainers(containerd: Containerd): Promise<void> {
  for (const id of await listContainers(containerd)) {
    const info = await containerd.ctr("containers", "info", id).catch(() => "{}");
    await containerd.ctr("tasks", "delete", "--force", id).catch(() => undefined);
    await containerd.ctr("containers", "delete", id).catch(() => undefined);
    for (const name of networkNamespaces(info)) await runCommand("ip", ["netns", "delete", name]).catch(() => undefined);
  }
}

/** Names of the network namespaces that the network plugins created for a container's pod. */
function networkNamespaces(info: string): string[] {
  const { Spec: spec } = JSON.parse(info) as { Spec?: { linux?: { namespaces?: { type: string; path?: string }[] } } };
  const paths = spec?.linux?.namespaces?.filter(({ type }) => type === "network").map(({ path }) => path) ?? [];
  return paths.flatMap((path) => /\/netns\/(cni-[^/]+)$/.exec(path ?? "")?.[1] ?? []);
}

async function listContainers({ ctr }: Containerd): Promise<string[]> {
  return (await ctr("containers", "list", "--quiet")).split("\n").filter((id) => id !== "");
}
