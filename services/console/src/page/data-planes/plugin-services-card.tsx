import { useQuery } from "@tanstack/react-query";
import type { PluginReplicaJson, PluginServiceJson } from "@flyte-ts/idl/flytets/admin/v1/cluster_pb";
import { useApp, useNow } from "../../app/app.js";
import { Card } from "../../control/card.js";
import { Note } from "../../control/card-page.js";
import { Code, Pill } from "../../control/pill.js";
import { type PlainColumn, PlainTable } from "../../control/plain-table.js";
import { Duration, Time } from "../../control/time.js";
import { formatCount } from "../../format/count.js";
import { readTimeMs } from "../../format/time.js";
import { clustersQuery } from "./queries.js";
import { serviceState } from "./service-state.js";

/** The state of a service is worked out again this often, ms. */
const STATE_MS = 5_000;

/**
 * Plugin services whose heartbeats the serving replica of admin receives, with the oldest request
 * of each.
 */
export function PluginServicesCard() {
  const { data } = useQuery(clustersQuery(useApp()));
  const nowMs = useNow(STATE_MS);
  const services = data?.pluginServices ?? [];
  return (
    <Card title="Plugin services" note={services.length === 0 ? "" : String(services.length)}>
      {data !== undefined && services.length === 0 && <Note>Admin has heard no plugin service in the last hour.</Note>}
      {services.length > 0 && (
        <PlainTable
          label="Plugin services"
          columns={columnsAt(nowMs)}
          rows={services}
          rowId={({ cluster = "", name = "" }) => `${cluster}/${name}`}
        />
      )}
    </Card>
  );
}

const columnsAt = (nowMs: number): readonly PlainColumn<PluginServiceJson>[] => [
  { title: "Service", cell: ({ name }) => <Code>{name}</Code> },
  { title: "State", cell: ({ replicas = [] }) => <State replicas={replicas} nowMs={nowMs} /> },
  { title: "Data plane", cell: ({ cluster = "" }) => (cluster === "" ? "–" : <Code>{cluster}</Code>) },
  { title: "Attempts", end: true, cell: ({ replicas = [] }) => attemptsOf(replicas) },
  { title: "Oldest request", cell: ({ replicas = [] }) => <OldestRequest replicas={replicas} /> },
  { title: "Task types", cell: ({ taskTypes = [] }) => taskTypes.join(", ") },
];

function State({ replicas, nowMs }: { readonly replicas: readonly PluginReplicaJson[]; readonly nowMs: number }) {
  const { answering, lastMs } = serviceState(replicas, nowMs);
  if (answering > 0) return <Pill kind="ok">{answering === 1 ? "runs" : `runs ${answering} times`}</Pill>;
  return (
    <>
      <Pill kind="bad">silent</Pill> since <Time timeMs={lastMs} />
    </>
  );
}

function OldestRequest({ replicas }: { readonly replicas: readonly PluginReplicaJson[] }) {
  const times = replicas.flatMap(({ oldestRequestAt }) => readTimeMs(oldestRequestAt) ?? []);
  return times.length === 0 ? "none" : <Duration sinceMs={Math.min(...times)} />;
}

/** Attempts in progress of all processes; an older version does not tell them. */
function attemptsOf(replicas: readonly PluginReplicaJson[]): string {
  const known = replicas.flatMap(({ attempts }) => attempts ?? []);
  return known.length === 0 ? "–" : formatCount(known.reduce((sum, each) => sum + each, 0));
}
