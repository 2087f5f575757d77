import { create } from "@bufbuild/protobuf";
import { NotificationSchema } from "@flyte-ts/idl/flyteidl/admin/common_pb";
import { WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { IdentifierSchema, ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { isMailAddress } from "@flyte-ts/outbound";
import { Code, RpcError } from "@flyte-ts/rpc";
import { invalidArgument } from "../../platform/index.js";
import type { CompletedExecution } from "../model/completed-execution.js";
import { planDeliveries, webhookName } from "./plan.js";
import { createSend, type SendDeps } from "./send.js";

/** Receiver of a test, and the place whose executions it would hear of. */
export interface TestRequest {
  readonly project: string;
  readonly domain: string;
  /** Mail address, or `webhook:NAME`. */
  readonly receiver: string;
}

/** Tests under way, at most: each holds a connection to its receiver. */
const MAX_CONCURRENT = 4;
const NAME = "test";

/** Sends notifications that test a receiver. */
export class TestSender {
  readonly #deps: SendDeps;
  #open = 0;

  constructor(deps: SendDeps) {
    this.#deps = deps;
  }

  /**
   * Sends a notification of an invented execution once. Resolves to the reason why it was not
   * accepted, empty after success.
   *
   * @throws RpcError INVALID_ARGUMENT for another receiver: an address of the caller would tell
   *   what answers there; RESOURCE_EXHAUSTED while several tests are under way.
   */
  async send({ project, domain, receiver }: TestRequest): Promise<string> {
    if (webhookName(receiver) === undefined && !isMailAddress(receiver))
      throw invalidArgument("invalid value for receiver: it must be a mail address, or webhook: with the name of a configured webhook");
    if (this.#open >= MAX_CONCURRENT) throw new RpcError(Code.RESOURCE_EXHAUSTED, "other notifications are being tested, try again");
    const { config, clock } = this.#deps;
    const execution = inventedExecution({ project, domain, receiver }, clock());
    const delivery = planDeliveries(execution, config).find(({ target }) => target === receiver);
    if (delivery === undefined) throw new Error(`no message is planned for ${receiver}`);
    this.#open++;
    try {
      await createSend(this.#deps)({ ...delivery, project, domain });
      return "";
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    } finally {
      this.#open--;
    }
  }
}

function inventedExecution({ project, domain, receiver }: TestRequest, now: Date): CompletedExecution {
  const id = (resourceType: ResourceType) => create(IdentifierSchema, { resourceType, project, domain, name: NAME, version: NAME });
  const phase = WorkflowExecution_Phase.SUCCEEDED;
  const nowNs = BigInt(now.getTime()) * 1_000_000n;
  return {
    rowId: 0n,
    project,
    domain,
    name: NAME,
    phase,
    workflow: id(ResourceType.WORKFLOW),
    launched: id(ResourceType.LAUNCH_PLAN),
    launchPlanName: NAME,
    workflowName: NAME,
    principal: "",
    labels: {},
    error: undefined,
    abort: undefined,
    acceptedNs: nowNs,
    startedNs: nowNs,
    endedNs: nowNs,
    notifications: [create(NotificationSchema, { phases: [phase], type: { case: "email", value: { recipientsEmail: [receiver] } } })],
  };
}
