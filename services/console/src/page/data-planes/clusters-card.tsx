import { useQuery } from "@tanstack/react-query";
import type { ClusterJson } from "@flyte-ts/idl/flytets/admin/v1/cluster_pb";
import { useApp } from "../../app/app.js";
import { Card } from "../../control/card.js";
import { Note } from "../../control/card-page.js";
import { ErrorPanel } from "../../control/error-panel.js";
import { Code, Pill } from "../../control/pill.js";
import { type PlainColumn, PlainTable } from "../../control/plain-table.js";
import { Time } from "../../control/time.js";
import { readTimeMs } from "../../format/time.js";
import { clustersQuery } from "./queries.js";

/** Data planes with the state that the serving replica of admin observes. */
export function ClustersCard({ isAllowed }: { readonly isAllowed: boolean }) {
  const { data, error, refetch } = useQuery({ ...clustersQuery(useApp()), enabled: isAllowed });
  const clusters = data?.clusters ?? [];
  const taking = clusters.filter(takesWork).length;
  return (
    <Card title="State" note={data === undefined ? "" : `${taking} of ${clusters.length} take work`}>
      {!isAllowed && <Note>The state of data planes needs the role admin in all projects.</Note>}
      {error !== null && data === undefined && (
        <ErrorPanel title="The data planes cannot be listed" error={error} onRetry={() => void refetch()} />
      )}
      {data !== undefined && clusters.length === 0 && <Note>Admin has no data plane.</Note>}
      {clusters.length > 0 && <PlainTable label="Data planes" columns={COLUMNS} rows={clusters} rowId={({ name = "" }) => name} />}
    </Card>
  );
}

const takesWork = ({ state, enabled }: ClusterJson): boolean => state === "closed" && enabled === true;

const COLUMNS: readonly PlainColumn<ClusterJson>[] = [
  { title: "Data plane", cell: ({ name }) => <Code>{name}</Code> },
  { title: "State", cell: (cluster) => <ClusterState cluster={cluster} /> },
  { title: "Since", cell: ({ since }) => <Time timeMs={readTimeMs(since)} /> },
  { title: "Weight", end: true, cell: ({ weight }) => String(weight ?? 0) },
  { title: "Pools", cell: ({ pools = [] }) => (pools.length === 0 ? "–" : pools.join(", ")) },
  { title: "Reason", cell: ({ reason = "" }) => (reason === "" ? "–" : reason) },
];

function ClusterState({ cluster }: { readonly cluster: ClusterJson }) {
  if (cluster.enabled !== true) return <Pill>disabled</Pill>;
  if (cluster.state === "closed") return <Pill kind="ok">takes work</Pill>;
  return cluster.state === "half-open" ? <Pill kind="ask">answers again</Pill> : <Pill kind="bad">down</Pill>;
}
