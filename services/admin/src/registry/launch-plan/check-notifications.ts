import type { Notification } from "@flyte-ts/idl/flyteidl/admin/common_pb";
import { WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { isTerminalWorkflowEvent } from "@flyte-ts/domain/phase";
import { invalidArgument, missingArgument } from "../../platform/index.js";

/**
 * Validates the recipients of notifications and their phases.
 *
 * @throws RpcError INVALID_ARGUMENT.
 */
export function checkNotifications(notifications: readonly Notification[]): void {
  for (const { type, phases } of notifications) {
    if (type.case === undefined) throw invalidArgument("invalid value for notification type: set email, slack or pager_duty");
    if (type.value.recipientsEmail.length === 0) throw missingArgument("recipients");
    if (type.value.recipientsEmail.includes("")) throw missingArgument("recipient");
    for (const phase of phases) {
      if (!isTerminalWorkflowEvent(phase)) {
        throw invalidArgument(`invalid value for phase: ${WorkflowExecution_Phase[phase] ?? phase} is not a terminal phase`);
      }
    }
  }
}
