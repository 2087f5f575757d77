import { useQuery } from "@tanstack/react-query";
import type { AgentJson } from "@flyte-ts/idl/flyteidl/admin/agent_pb";
import { useApp } from "../../app/app.js";
import { Card } from "../../control/card.js";
import { Note } from "../../control/card-page.js";
import { ErrorPanel } from "../../control/error-panel.js";
import { Code } from "../../control/pill.js";
import { type PlainColumn, PlainTable } from "../../control/plain-table.js";
import { agentsQuery } from "./queries.js";

/** Connectors that admin asks for their task types. */
export function AgentsCard() {
  const { data, error, refetch } = useQuery(agentsQuery(useApp()));
  const agents = data?.agents ?? [];
  return (
    <Card title="Connectors" note={agents.length === 0 ? "" : String(agents.length)}>
      {error !== null && data === undefined && (
        <ErrorPanel title="The connectors cannot be listed" error={error} onRetry={() => void refetch()} />
      )}
      {data !== undefined && agents.length === 0 && <Note>No connector answers, or admin knows none (agents.endpoints).</Note>}
      {agents.length > 0 && <PlainTable label="Connectors" columns={COLUMNS} rows={agents} rowId={({ name = "" }) => name} />}
    </Card>
  );
}

const COLUMNS: readonly PlainColumn<AgentJson>[] = [
  { title: "Connector", cell: ({ name }) => <Code>{name}</Code> },
  { title: "Task types", cell: ({ supportedTaskCategories = [] }) => supportedTaskCategories.map(({ name }) => name).join(", ") },
  { title: "Mode", cell: ({ isSync }) => (isSync === true ? "synchronous" : "asynchronous") },
];
