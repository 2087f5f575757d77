import { type KubeObject, LEASES } from "../client/resources.js";

/** A Lease, as far as shards need it. */
export interface Lease extends KubeObject {
  spec?: { holderIdentity?: string; leaseDurationSeconds?: number; acquireTime?: string; renewTime?: string; leaseTransitions?: number };
}

export { LEASES };

/** Label of all Leases of one group of processes. */
export const GROUP_LABEL = "flyte.org/lease-group";

/** Label of a membership: the slot of its process, which no other process has at the same time. */
export const STABLE_IDENTITY_LABEL = "flyte.org/lease-slot";

export interface LeaseNames {
  readonly namespace: string;
  /** Name of the group, the first part of Lease names. */
  readonly group: string;
}

export interface MemberLeaseFields {
  readonly member: string;
  readonly stableIdentity?: string | undefined;
  readonly leaseMs: number;
  readonly time: Date;
}

export function memberLease({ namespace, group }: LeaseNames, fields: MemberLeaseFields): Lease {
  const labels = {
    [GROUP_LABEL]: group,
    ...(fields.stableIdentity === undefined ? {} : { [STABLE_IDENTITY_LABEL]: fields.stableIdentity }),
  };
  return {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: { namespace, name: memberLeaseName(group, fields.member), labels },
    spec: {
      holderIdentity: fields.member,
      leaseDurationSeconds: Math.ceil(fields.leaseMs / 1_000),
      renewTime: formatMicroTime(fields.time),
    },
  };
}

export function shardLease({ namespace, group }: LeaseNames, fields: { shard: number; member: string; time: Date }): Lease {
  return {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: { namespace, name: `${group}-shard-${fields.shard}`, labels: { [GROUP_LABEL]: group } },
    spec: { holderIdentity: fields.member, acquireTime: formatMicroTime(fields.time) },
  };
}

export function memberLeaseName(group: string, member: string): string {
  return `${group}-member-${member}`;
}

/** Reads a Lease of the group. */
export function parseLeaseName(
  group: string,
  { metadata }: KubeObject,
): { kind: "member"; member: string } | { kind: "shard"; shard: number } | undefined {
  const shard = new RegExp(`^${group}-shard-(\\d+)$`).exec(metadata.name)?.[1];
  if (shard !== undefined) return { kind: "shard", shard: Number(shard) };
  const prefix = memberLeaseName(group, "");
  return metadata.name.startsWith(prefix) ? { kind: "member", member: metadata.name.slice(prefix.length) } : undefined;
}

/** RFC 3339 with microseconds, the format of times in Leases. */
function formatMicroTime(time: Date): string {
  return time.toISOString().replace("Z", "000Z");
}
