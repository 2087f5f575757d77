import { command } from "./command.js";
import type { Containerd } from "./containerd.js";

/** Has the kubelet take down every pod, with its network, and waits for that. */
export async function removePods(kubeconfig: string, containerd: Containerd): Promise<void> {
  const remove = ["delete", "pods", "--all", "--all-namespaces", "--grace-period=1", "--timeout=20s", "--ignore-not-found"];
  await command("kubectl", ["--kubeconfig", kubeconfig, ...remove]).catch(() => undefined);
  await removeContainers(containerd);
}

/** Ends what runs, whoever left it: containers outlive containerd. */
export async function removeContainers(containerd: Containerd): Promise<void> {
  for (const id of await containers(containerd)) {
    await containerd.ctr("tasks", "delete", "--force", id).catch(() => undefined);
    await containerd.ctr("containers", "delete", id).catch(() => undefined);
  }
}

async function containers({ ctr }: Containerd): Promise<string[]> {
  return (await ctr("containers", "list", "--quiet")).split("\n").filter((id) => id !== "");
}
