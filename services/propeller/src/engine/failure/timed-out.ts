import type { ExecutionErrorJson } from "@flyte-ts/workflow-crd";

/** The error of a node whose time over all attempts was up; its status has none (the words are Go Flyte's). */
export const TIMED_OUT: ExecutionErrorJson = { code: "Timeout", kind: "USER", message: "Timeout in node" };
