import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { DeliveryJson } from "@flyte-ts/idl/flytets/admin/v1/notification_pb";
import type { Scope } from "../../api/scope.js";
import { useApp } from "../../app/app.js";
import { Button } from "../../control/button.js";
import { Card } from "../../control/card.js";
import { Note } from "../../control/card-page.js";
import { ErrorPanel } from "../../control/error-panel.js";
import { Code, Pill } from "../../control/pill.js";
import { type PlainColumn, PlainTable } from "../../control/plain-table.js";
import { Time } from "../../control/time.js";
import { readTimeMs } from "../../format/time.js";
import { SCOPE_PATH } from "../../frame/navigation.js";
import { useRights } from "../../frame/use-role.js";
import { ReceiverTest } from "./receiver-test.js";
import { deliveriesQuery } from "./queries.js";
import { useSettingActs } from "./use-setting-acts.js";

/** Latest deliveries of notifications, with their errors. */
export function DeliveriesCard({ scope }: { readonly scope: Scope }) {
  const { data, error, refetch } = useQuery(deliveriesQuery(useApp(), scope));
  return (
    <Card title="Deliveries of notifications" note="newest first">
      {error !== null && data === undefined && (
        <ErrorPanel title="The deliveries cannot be listed" error={error} onRetry={() => void refetch()} />
      )}
      {data?.length === 0 && <Note>Nothing was sent. Launch plans and the configuration of admin (notifications) name receivers.</Note>}
      <ReceiverTest scope={scope} />
      {data !== undefined && data.length > 0 && (
        <PlainTable label="Deliveries" columns={columnsOf(scope)} rows={data} rowId={({ messageId = "" }) => messageId} />
      )}
    </Card>
  );
}

const STATES = {
  DELIVERY_STATE_WAITING: { kind: "ask", text: "waits" },
  DELIVERY_STATE_SENT: { kind: "ok", text: "sent" },
  DELIVERY_STATE_GIVEN_UP: { kind: "bad", text: "given up" },
} as const;

function columnsOf(scope: Scope): readonly PlainColumn<DeliveryJson>[] {
  return [
    { title: "Made", cell: ({ createdAt }) => <Time timeMs={readTimeMs(createdAt)} /> },
    {
      title: "Execution",
      cell: ({ execution, phase }) => (
        <Link to={`${SCOPE_PATH}/executions/$name`} params={{ ...scope, name: execution?.name ?? "" }}>
          {execution?.name} {phase?.toLowerCase()}
        </Link>
      ),
    },
    { title: "To", cell: ({ channel, target }) => <Code>{`${channel ?? ""} ${target ?? ""}`}</Code> },
    { title: "State", cell: ({ state = "" }) => <DeliveryMark state={state} /> },
    { title: "Attempts", end: true, cell: ({ attempts = 0 }) => String(attempts) },
    { title: "Error", cell: ({ lastError = "" }) => (lastError === "" ? "–" : lastError) },
    { title: "Acts", end: true, cell: (delivery) => <RetryButton scope={scope} delivery={delivery} /> },
  ];
}

function DeliveryMark({ state }: { readonly state: string | number }) {
  const { kind, text } = STATES[state as keyof typeof STATES] ?? { kind: "wait", text: "unknown" };
  return <Pill kind={kind}>{text}</Pill>;
}

function RetryButton({ scope, delivery }: { readonly scope: Scope; readonly delivery: DeliveryJson }) {
  const { api } = useApp();
  const { change } = useSettingActs();
  const refused = useRights(scope).refusal("runner");
  const { messageId = "", state } = delivery;
  if (state === "DELIVERY_STATE_SENT") return null;
  return (
    <Button
      small
      refused={refused}
      aria-label={`Send again: ${messageId}`}
      onClick={() => change({ call: () => api.platform.retryDelivery(scope, messageId), done: "The notification is sent again" })}
    >
      Send again
    </Button>
  );
}
