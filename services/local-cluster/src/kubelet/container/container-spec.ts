import { type Json, type JsonObject, type KubeObject, at, isObject, listAt, textAt } from "../../object/model.js";

/** Role of a container: `sidecar` is an init container with restartPolicy Always. */
export type Role = "init" | "sidecar" | "main";

export interface ContainerSpec {
  readonly name: string;
  readonly role: Role;
  readonly image: string;
  readonly raw: JsonObject;
}

/** Returns the containers in start order. */
export function containersOf(pod: KubeObject): readonly ContainerSpec[] {
  const read = (list: readonly Json[], role: (raw: JsonObject) => Role): ContainerSpec[] =>
    list.filter(isObject).map((raw) => ({ name: textAt(raw, "name") ?? "", role: role(raw), image: textAt(raw, "image") ?? "", raw }));
  return [
    ...read(listAt(pod, "spec", "initContainers"), (raw) => (raw["restartPolicy"] === "Always" ? "sidecar" : "init")),
    ...read(listAt(pod, "spec", "containers"), () => "main"),
  ];
}

export type RestartPolicy = "Always" | "OnFailure" | "Never";

export function restartPolicyOf(pod: KubeObject): RestartPolicy {
  const policy = textAt(pod, "spec", "restartPolicy");
  return policy === "Never" || policy === "OnFailure" ? policy : "Always";
}

export function gracePeriodOf(pod: KubeObject): number {
  const own = at(pod, "spec", "terminationGracePeriodSeconds");
  return typeof own === "number" ? own : 30;
}
