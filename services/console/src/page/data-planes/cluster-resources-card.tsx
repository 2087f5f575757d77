import { useQuery } from "@tanstack/react-query";
import type { ClusterResourcesJson } from "@flyte-ts/idl/flytets/admin/v1/cluster_pb";
import type { Scope } from "../../api/scope.js";
import { useApp } from "../../app/app.js";
import { Card } from "../../control/card.js";
import { Note } from "../../control/card-page.js";
import { ErrorPanel } from "../../control/error-panel.js";
import { Code, Pill } from "../../control/pill.js";
import { type PlainColumn, PlainTable } from "../../control/plain-table.js";
import { Time } from "../../control/time.js";
import { readTimeMs } from "../../format/time.js";
import { clusterResourcesQuery } from "./queries.js";

/** Resources of the project and domain in each data plane. */
export function ClusterResourcesCard({ scope }: { readonly scope: Scope }) {
  const { data, error, refetch } = useQuery(clusterResourcesQuery(useApp(), scope));
  const resources = data?.resources ?? [];
  return (
    <Card title="Cluster resources" note={`${scope.project} / ${scope.domain}`}>
      {error !== null && data === undefined && (
        <ErrorPanel title="The cluster resources cannot be listed" error={error} onRetry={() => void refetch()} />
      )}
      {data !== undefined && resources.length === 0 && <Note>Admin creates no resources for projects.</Note>}
      {resources.length > 0 && (
        <PlainTable label="Cluster resources" columns={COLUMNS} rows={resources} rowId={({ cluster = "" }) => cluster} />
      )}
    </Card>
  );
}

const KINDS = { synced: "ok", failed: "bad", pending: "wait", waiting: "ask" } as const;

const COLUMNS: readonly PlainColumn<ClusterResourcesJson>[] = [
  { title: "Data plane", cell: ({ cluster }) => <Code>{cluster}</Code> },
  { title: "Namespace", cell: ({ namespace }) => <Code>{namespace}</Code> },
  { title: "State", cell: ({ state = "" }) => <Pill kind={KINDS[state as keyof typeof KINDS] ?? "wait"}>{state}</Pill> },
  { title: "Checked", cell: ({ checkedAt }) => <Time timeMs={readTimeMs(checkedAt)} /> },
  { title: "Resources", cell: ({ resources = [] }) => resources.map(({ kind, name }) => `${kind ?? ""} ${name ?? ""}`).join(", ") || "–" },
  { title: "Problem", cell: problemOf },
];

function problemOf({ reason = "", resources = [] }: ClusterResourcesJson): string {
  const problems = [reason, ...resources.map(({ error = "" }) => error)].filter((text) => text !== "");
  return problems.length === 0 ? "–" : problems.join("; ");
}
