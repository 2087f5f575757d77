import { type Json, type KubeObject, at, isObject, listAt, show, textAt } from "../../object/model.js";
import type { PrinterColumn } from "./resource-type.js";

type Cell = PrinterColumn["cell"];

const column = (name: string, cell: Cell, priority = 0): PrinterColumn => ({ name, type: "string", priority, cell });

export const NAME: PrinterColumn = {
  name: "Name",
  type: "string",
  format: "name",
  description: "Name must be unique within a namespace.",
  priority: 0,
  cell: (o) => o.metadata.name,
};
export const AGE: PrinterColumn = column("Age", (o, now) => age(o.metadata.creationTimestamp, now));

/** Columns of kinds without their own. */
export const PLAIN_COLUMNS = [NAME, AGE];

/** Formats a duration as kubectl does: `5s`, `3m20s`, `2h`, `5d12h`. */
function humanDuration(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 10) return seconds % 60 === 0 ? `${minutes}m` : `${minutes}m${seconds % 60}s`;
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  if (hours < 8) return minutes % 60 === 0 ? `${hours}h` : `${hours}h${minutes % 60}m`;
  if (hours < 48) return `${hours}h`;
  if (hours < 24 * 8) return hours % 24 === 0 ? `${Math.floor(hours / 24)}d` : `${Math.floor(hours / 24)}d${hours % 24}h`;
  if (hours < 24 * 365 * 2) return `${Math.floor(hours / 24)}d`;
  const years = Math.floor(hours / 24 / 365);
  const days = Math.floor(hours / 24) % 365;
  return years < 8 && days > 0 ? `${years}y${days}d` : `${years}y`;
}

export function age(time: string | undefined, now: number): string {
  return time === undefined ? "<unknown>" : humanDuration(now - Date.parse(time));
}

const count = (value: Json | undefined) => (isObject(value) ? Object.keys(value).length : Array.isArray(value) ? value.length : 0);

export const NAMESPACE_COLUMNS = [NAME, column("Status", (o) => textAt(o, "status", "phase") ?? ""), AGE];
export const SECRET_COLUMNS = [NAME, column("Type", (o) => textAt(o, "type") ?? "Opaque"), column("Data", (o) => count(o["data"])), AGE];
export const CONFIG_MAP_COLUMNS = [NAME, column("Data", (o) => count(o["data"]) + count(o["binaryData"])), AGE];
export const SERVICE_ACCOUNT_COLUMNS = [NAME, column("Secrets", (o) => String(count(o["secrets"]))), AGE];
export const LEASE_COLUMNS = [NAME, column("Holder", (o) => textAt(o, "spec", "holderIdentity") ?? ""), AGE];
export const CRD_COLUMNS = [NAME, column("Created At", (o) => o.metadata.creationTimestamp ?? "")];
export const LIMIT_RANGE_COLUMNS = [NAME, column("Created At", (o) => o.metadata.creationTimestamp ?? "")];

export const POD_TEMPLATE_COLUMNS = [
  NAME,
  column("Containers", (o) =>
    listAt(o, "template", "spec", "containers")
      .map((c) => textAt(c, "name"))
      .join(","),
  ),
  column("Images", (o) =>
    listAt(o, "template", "spec", "containers")
      .map((c) => textAt(c, "image"))
      .join(","),
  ),
  column("Pod Labels", (o) => labelText(at(o, "template", "metadata", "labels"))),
];

export const NODE_COLUMNS = [
  NAME,
  column("Status", (o) =>
    listAt(o, "status", "conditions").some((c) => textAt(c, "type") === "Ready" && textAt(c, "status") === "True") ? "Ready" : "NotReady",
  ),
  column(
    "Roles",
    (o) =>
      Object.keys(o.metadata.labels ?? {})
        .flatMap((l) => l.match(/^node-role\.kubernetes\.io\/(.+)$/)?.[1] ?? [])
        .join(",") || "<none>",
  ),
  AGE,
  column("Version", (o) => textAt(o, "status", "nodeInfo", "kubeletVersion") ?? ""),
  column("Internal-IP", (o) => textAt(listAt(o, "status", "addresses")[0], "address") ?? "<none>", 1),
  column("OS-Image", (o) => textAt(o, "status", "nodeInfo", "osImage") ?? "<unknown>", 1),
  column("Container-Runtime", (o) => textAt(o, "status", "nodeInfo", "containerRuntimeVersion") ?? "<unknown>", 1),
];

export const QUOTA_COLUMNS = [NAME, column("Request", (o) => quotaText(o, false)), column("Limit", (o) => quotaText(o, true)), AGE];

function quotaText(quota: KubeObject, limits: boolean): string {
  const hard = at(quota, "status", "hard");
  if (!isObject(hard)) return "";
  const entries = Object.keys(hard)
    .filter((key) => key.startsWith("limits") === limits)
    .sort();
  return entries.map((key) => `${key}: ${textAt(quota, "status", "used", key) ?? "0"}/${show(hard[key])}`).join(", ");
}

export const EVENT_COLUMNS = [
  column("Last Seen", (o, now) => age(lastSeen(o), now)),
  column("Type", (o) => textAt(o, "type") ?? ""),
  column("Reason", (o) => textAt(o, "reason") ?? ""),
  column("Object", (o) => `${(textAt(o, "involvedObject", "kind") ?? "").toLowerCase()}/${textAt(o, "involvedObject", "name") ?? ""}`),
  column("Subobject", (o) => textAt(o, "involvedObject", "fieldPath") ?? "", 1),
  column(
    "Source",
    (o) => [textAt(o, "source", "component") ?? textAt(o, "reportingComponent"), textAt(o, "source", "host")].filter(Boolean).join(", "),
    1,
  ),
  column("Message", (o) => (textAt(o, "message") ?? "").trim()),
  column("First Seen", (o, now) => age(textAt(o, "firstTimestamp") ?? textAt(o, "eventTime"), now), 1),
  column("Count", (o) => show(at(o, "count") ?? 1), 1),
  { ...NAME, priority: 1 },
];

function lastSeen(event: KubeObject): string | undefined {
  return (
    textAt(event, "series", "lastObservedTime") ??
    textAt(event, "lastTimestamp") ??
    textAt(event, "eventTime") ??
    event.metadata.creationTimestamp
  );
}

const labelText = (labels: Json | undefined) =>
  isObject(labels) && count(labels) > 0
    ? Object.entries(labels)
        .map(([k, v]) => `${k}=${show(v)}`)
        .join(",")
    : "<none>";
