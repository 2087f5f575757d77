import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  type DeliverySchema,
  DeliveryState,
  type ListDeliveriesRequest,
  type NotificationService,
} from "@flyte-ts/idl/flytets/admin/v1/notification_pb";
import type { ServiceImplementation } from "@flyte-ts/rpc";
import { checkText, invalidArgument, nextPageToken, notFound, parseKeysetPage } from "../../platform/index.js";
import type { AutomationDeps } from "../deps.js";
import { TestSender } from "./test-sender.js";
import { type DeliveryRow, listDeliveryRows, retryDelivery } from "../store/deliveries.js";

const STATES = { waiting: DeliveryState.WAITING, sent: DeliveryState.SENT, given_up: DeliveryState.GIVEN_UP } as const;

/** Deliveries of notifications: list and retry; and tests of receivers. */
export function notificationRpcs({
  db,
  config,
  env,
  clock,
}: Pick<AutomationDeps, "db" | "config" | "env" | "clock">): ServiceImplementation<typeof NotificationService> {
  const tests = new TestSender({ config: config.notifications, env, clock });
  return {
    async testNotification({ project, domain, receiver }) {
      checkText(project, "project");
      checkText(domain, "domain");
      checkText(receiver, "receiver");
      return { error: await tests.send({ project, domain, receiver }) };
    },

    async listDeliveries(request) {
      checkList(request);
      const { project, domain, executionName } = request;
      const page = parseKeysetPage(request);
      const state = Object.entries(STATES).find(([, value]) => value === request.state)?.[0];
      const rows = await listDeliveryRows(db, { project, domain, executionName, state, page });
      return { deliveries: rows.map(deliveryOf), token: nextPageToken(rows, page) };
    },

    async retryDelivery({ project, domain, messageId }) {
      checkText(project, "project");
      checkText(domain, "domain");
      checkText(messageId, "message_id");
      const state = await retryDelivery(db, { project, domain, messageId });
      if (state === undefined) throw notFound(`no notification ${messageId} in ${project}/${domain}`);
      if (state === "sent") throw invalidArgument(`invalid value for message_id: notification ${messageId} has been sent`);
      return {};
    },
  };
}

/** @throws RpcError INVALID_ARGUMENT. */
function checkList({ project, domain, executionName, state }: ListDeliveriesRequest): void {
  checkText(project, "project");
  checkText(domain, "domain");
  if (executionName !== "") checkText(executionName, "execution_name");
  if (DeliveryState[state] === undefined) throw invalidArgument(`invalid value for state: ${state} is none`);
}

function deliveryOf(row: DeliveryRow): MessageInitShape<typeof DeliverySchema> {
  return {
    messageId: row.message_id,
    execution: { project: row.project, domain: row.domain, name: row.execution_name },
    phase: row.phase,
    channel: row.channel,
    target: shownTarget(row.target),
    state: STATES[row.state],
    attempts: row.attempts,
    lastError: row.last_error,
    createdAt: timestampFromDate(row.created_at),
    ...(row.state === "waiting" && { nextTryAt: timestampFromDate(row.available_at) }),
    ...(row.ended_at && { endedAt: timestampFromDate(row.ended_at) }),
  };
}

/** Hides the path of an incoming webhook, which is a credential. */
function shownTarget(target: string): string {
  if (!/^https?:/i.test(target)) return target;
  return URL.canParse(target) ? `${new URL(target).origin}/…` : "a URL";
}
