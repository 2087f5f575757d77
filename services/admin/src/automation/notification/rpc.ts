import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  type DeliverySchema,
  DeliveryState,
  type ListDeliveriesRequest,
  type NotificationService,
} from "@flyte-ts/idl/flytets/admin/v1/notification_pb";
import type { Queryable } from "@flyte-ts/postgres";
import type { ServiceImplementation } from "@flyte-ts/rpc";
import { checkText } from "../../platform/identifiers.js";
import { invalidArgument, notFound } from "../../platform/rpc-errors.js";
import { parseKeysetPage, nextPageToken } from "../../platform/keyset-page.js";

interface Row {
  id: bigint;
  message_id: string;
  project: string;
  domain: string;
  execution_name: string;
  phase: string;
  channel: string;
  target: string;
  state: keyof typeof STATES;
  attempts: number;
  last_error: string;
  created_at: Date;
  available_at: Date;
  ended_at: Date | null;
}

const STATES = { waiting: DeliveryState.WAITING, sent: DeliveryState.SENT, given_up: DeliveryState.GIVEN_UP } as const;

/** Deliveries of notifications: list and retry. */
export function notificationRpcs({ db }: { readonly db: Queryable }): ServiceImplementation<typeof NotificationService> {
  return {
    async listDeliveries(request) {
      checkList(request);
      const { project, domain, executionName } = request;
      const page = parseKeysetPage(request);
      const state = Object.entries(STATES).find(([, value]) => value === request.state)?.[0];
      const { rows } = await db.query<Row>({
        text: `SELECT id, message_id, project, domain, execution_name, phase, channel, target, state, attempts, last_error, created_at,
            available_at, ended_at
          FROM notification_deliveries
          WHERE project = $1 AND domain = $2 AND ($3 = '' OR execution_name = $3) AND ($4::text IS NULL OR state = $4)
            AND ($5::bigint IS NULL OR id < $5)
          ORDER BY id DESC LIMIT $6`,
        values: [project, domain, executionName, state, page.before, page.limit],
      });
      return { deliveries: rows.map(deliveryOf), token: nextPageToken(rows, page) };
    },

    async retryDelivery({ project, domain, messageId }) {
      checkText(project, "project");
      checkText(domain, "domain");
      checkText(messageId, "message_id");
      const { rows } = await db.query<{ state: Row["state"] }>({
        text: `UPDATE notification_deliveries SET
            state = CASE WHEN state = 'given_up' THEN 'waiting' ELSE state END,
            ended_at = CASE WHEN state = 'given_up' THEN NULL ELSE ended_at END,
            tried_since = now(), available_at = least(available_at, now())
          WHERE project = $1 AND domain = $2 AND message_id = $3 RETURNING state`,
        values: [project, domain, messageId],
      });
      if (rows[0] === undefined) throw notFound(`no notification ${messageId} in ${project}/${domain}`);
      if (rows[0].state === "sent") throw invalidArgument(`invalid value for message_id: notification ${messageId} has been sent`);
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

function deliveryOf(row: Row): MessageInitShape<typeof DeliverySchema> {
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
