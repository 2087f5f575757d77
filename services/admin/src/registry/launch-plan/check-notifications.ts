import type { Notification } from "@flyte-ts/idl/flyteidl/admin/common_pb";
import { WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { isTerminalWorkflowEvent } from "@flyte-ts/domain/phase";
import { invalidArgument, missingArgument } from "../../platform/index.js";

/**
 * Limits of the notifications of an execution: each recipient gets a copy of the rendered template.
 */
export const NOTIFICATION_LIMITS = {
  /** Recipients of all notifications. */
  recipients: 100,
  /** Size of a recipient, bytes. */
  recipientBytes: 2_048,
  /** Size of the templates of all notifications, bytes. */
  templateBytes: 65_536,
} as const;

/**
 * Validates the recipients of notifications, their phases and sizes.
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
  checkSizes(notifications);
}

function checkSizes(notifications: readonly Notification[]): void {
  const { recipients, recipientBytes, templateBytes } = NOTIFICATION_LIMITS;
  const values = notifications.flatMap(({ type }) => (type.value === undefined ? [] : [type.value]));
  const count = values.reduce((sum, { recipientsEmail }) => sum + recipientsEmail.length, 0);
  if (count > recipients)
    throw invalidArgument(
      `invalid value for recipients_email: ${count} recipients in all notifications, at most ${recipients} are allowed`,
    );
  if (values.some(({ recipientsEmail }) => recipientsEmail.some((each) => Buffer.byteLength(each) > recipientBytes)))
    throw invalidArgument(`invalid value for recipients_email: a recipient has more than ${recipientBytes} bytes`);
  const bytes = values.reduce((sum, { template }) => sum + Buffer.byteLength(template), 0);
  if (bytes > templateBytes)
    throw invalidArgument(`invalid value for template: ${bytes} bytes in all notifications, at most ${templateBytes} are allowed`);
}
