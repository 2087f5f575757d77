import type { DescMethod } from "@bufbuild/protobuf";
import { AdminService } from "@flyte-ts/idl/flyteidl/service/admin_pb";
import { SignalService } from "@flyte-ts/idl/flyteidl/service/signal_pb";
import { HistoryService } from "@flyte-ts/idl/flytets/admin/v1/history_pb";
import { type RequestLimits, SMALL_REQUEST } from "@flyte-ts/rpc";

/** Requests with graphs, values or events of users. */
const LARGE: ReadonlySet<DescMethod> = new Set([
  AdminService.method.createTask,
  AdminService.method.createWorkflow,
  AdminService.method.createLaunchPlan,
  AdminService.method.createExecution,
  AdminService.method.createWorkflowEvent,
  AdminService.method.createNodeEvent,
  AdminService.method.createTaskEvent,
  SignalService.method.setSignal,
  HistoryService.method.importExecution,
]);
/** A graph of 100,000 nodes has about two million elements. */
const LARGE_ELEMENTS = 4_000_000;

/** Requests that only name the objects to read or change. */
const NAMES_ONLY = /^(Get|List|Search|Watch|Follow|Check|Relaunch|Recover|Terminate|Delete)/;

/** Limits of settings, attributes and descriptions. */
const MEDIUM = { ...SMALL_REQUEST, bytes: 1024 * 1024, elements: 50_000 };

/** Limits of admin's requests: the largest size is configured, the others depend on the method. */
export function adminLimits(maxMessageBytes: number): RequestLimits {
  const large = { ...SMALL_REQUEST, bytes: maxMessageBytes, elements: LARGE_ELEMENTS };
  return (method) => {
    if (LARGE.has(method)) return large;
    return NAMES_ONLY.test(method.name) || method.parent.typeName.startsWith("grpc.") ? SMALL_REQUEST : MEDIUM;
  };
}
