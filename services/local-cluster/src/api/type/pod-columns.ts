import { type Json, type KubeObject, at, listAt, show, textAt } from "../../object/model.js";
import { AGE, age, NAME } from "./columns.js";
import type { PrinterColumn } from "./resource-type.js";

/** Columns of `kubectl get pods`; STATUS follows the rules of Kubernetes' printer. */
export const POD_COLUMNS: readonly PrinterColumn[] = [
  NAME,
  { name: "Ready", type: "string", priority: 0, cell: ready },
  { name: "Status", type: "string", priority: 0, cell: status },
  { name: "Restarts", type: "string", priority: 0, cell: restarts },
  AGE,
  { name: "IP", type: "string", priority: 1, cell: (o) => textAt(o, "status", "podIP") ?? "<none>" },
  { name: "Node", type: "string", priority: 1, cell: (o) => textAt(o, "spec", "nodeName") ?? "<none>" },
  { name: "Nominated Node", type: "string", priority: 1, cell: (o) => textAt(o, "status", "nominatedNodeName") ?? "<none>" },
  { name: "Readiness Gates", type: "string", priority: 1, cell: () => "<none>" },
];

const isSidecar = (pod: KubeObject, name: string | undefined) =>
  listAt(pod, "spec", "initContainers").some((c) => textAt(c, "name") === name && textAt(c, "restartPolicy") === "Always");

function statuses(pod: KubeObject): readonly Json[] {
  const sidecars = listAt(pod, "status", "initContainerStatuses").filter((s) => isSidecar(pod, textAt(s, "name")));
  return [...sidecars, ...listAt(pod, "status", "containerStatuses")];
}

function ready(pod: KubeObject): string {
  const total =
    listAt(pod, "spec", "containers").length +
    listAt(pod, "spec", "initContainers").filter((c) => textAt(c, "restartPolicy") === "Always").length;
  return `${statuses(pod).filter((s) => at(s, "ready") === true && at(s, "state", "running") !== undefined).length}/${total}`;
}

function restarts(pod: KubeObject, now: number): string {
  const counted = [...statuses(pod)];
  const total = counted.reduce<number>((sum, s) => sum + Number(at(s, "restartCount") ?? 0), 0);
  const last = counted
    .flatMap((s) => textAt(s, "lastState", "terminated", "finishedAt") ?? [])
    .sort()
    .at(-1);
  return total > 0 && last !== undefined ? `${total} (${age(last, now)} ago)` : String(total);
}

function status(pod: KubeObject): string {
  const init = initStatus(pod);
  let reason = init ?? textAt(pod, "status", "reason") ?? textAt(pod, "status", "phase") ?? "";
  if (init === undefined) {
    let running = false;
    for (const container of [...listAt(pod, "status", "containerStatuses")].reverse()) {
      const own = containerReason(container);
      if (own !== undefined) reason = own;
      else if (at(container, "ready") === true && at(container, "state", "running") !== undefined) running = true;
    }
    // A pod with completed and running containers is running.
    if (reason === "Completed" && running) reason = "Running";
  }
  if (pod.metadata.deletionTimestamp === undefined) return reason;
  const phase = textAt(pod, "status", "phase");
  return phase === "Succeeded" || phase === "Failed" ? reason : "Terminating";
}

function containerReason(container: Json): string | undefined {
  const waiting = textAt(container, "state", "waiting", "reason");
  if (waiting !== undefined && waiting !== "") return waiting;
  const terminated = at(container, "state", "terminated");
  if (terminated === undefined) return undefined;
  const reason = textAt(terminated, "reason");
  if (reason !== undefined && reason !== "") return reason;
  const signal = Number(at(terminated, "signal") ?? 0);
  return signal === 0 ? `ExitCode:${show(at(terminated, "exitCode"))}` : `Signal:${signal}`;
}

function initStatus(pod: KubeObject): string | undefined {
  const containers = listAt(pod, "status", "initContainerStatuses");
  for (const [index, container] of containers.entries()) {
    if (at(container, "state", "terminated", "exitCode") === 0) continue;
    if (isSidecar(pod, textAt(container, "name")) && at(container, "started") === true) continue;
    if (at(container, "state", "terminated") !== undefined) return `Init:${containerReason(container) ?? ""}`;
    const waiting = textAt(container, "state", "waiting", "reason");
    if (waiting !== undefined && waiting !== "" && waiting !== "PodInitializing") return `Init:${waiting}`;
    return `Init:${index}/${containers.length}`;
  }
  return undefined;
}
