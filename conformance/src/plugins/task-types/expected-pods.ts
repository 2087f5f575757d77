import { PROGRAM } from "./comparable.js";

export const IMAGE = "registry.example.com/task:v1";
const resources = (cpu: string, memory: string) => ({ limits: { cpu, memory }, requests: { cpu, memory } });
/** Resources of the task itself. */
export const OWN = resources("100m", "128Mi");
/** Resources of roles that name their own. */
export const SMALL = resources("1", "64Mi");

/** Returns the pod of a role, with the fields in which it differs from the task's own pod. */
export function pod(name: string, container: object = {}, restartPolicy = "Never") {
  const own = { image: IMAGE, resources: OWN, terminationMessagePolicy: "FallbackToLogsOnError", args: PROGRAM, env: [] };
  return { containers: [{ ...own, name, ...container }], restartPolicy, affinity: {} };
}

/** Returns the pod of a role whose program the operator chooses. */
export function podWithoutArgs(name: string, container: object = {}) {
  return pod(name, { args: undefined, ...container });
}
