// Evaluates NetworkPolicies by the rules of Kubernetes: a pod that no policy selects accepts and
// makes every connection; a selected pod only those that one of its policies allows. Both ends must
// allow a connection.
import { BlockList } from "node:net";

export interface Selector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly { readonly key: string; readonly operator: string; readonly values?: readonly string[] }[];
}

interface Peer {
  readonly podSelector?: Selector;
  readonly namespaceSelector?: Selector;
  readonly ipBlock?: { readonly cidr: string };
}

interface PolicyPort {
  readonly port: number | string;
  readonly protocol: string;
}

interface Rule {
  readonly ports?: readonly PolicyPort[];
  readonly from?: readonly Peer[];
  readonly to?: readonly Peer[];
}

/** A NetworkPolicy. */
export interface Policy {
  readonly metadata: { readonly namespace?: string };
  readonly spec: {
    readonly podSelector: Selector;
    readonly policyTypes: readonly ("Ingress" | "Egress")[];
    readonly ingress?: readonly Rule[];
    readonly egress?: readonly Rule[];
  };
}

type Labels = Readonly<Record<string, string>>;

/** One end of a connection: a pod, or an IPv4 address outside the cluster. */
export type End =
  | {
      readonly namespace: string;
      readonly namespaceLabels: Labels;
      readonly labels: Labels;
      /** Port numbers by name. */
      readonly ports: Readonly<Record<string, number>>;
    }
  | { readonly ip: string };

export interface Connection {
  readonly from: End;
  readonly to: End;
  /** Port of the pod, not of a Service. */
  readonly port: number;
  readonly protocol: "TCP" | "UDP";
}

/** @throws Error when a policy uses a field that this function does not support */
export function allows(policies: readonly Policy[], connection: Connection): boolean {
  return allowsOne(policies, connection, "Egress") && allowsOne(policies, connection, "Ingress");
}

function allowsOne(policies: readonly Policy[], { from, to, port, protocol }: Connection, type: "Ingress" | "Egress"): boolean {
  const [own, other] = type === "Egress" ? [from, to] : [to, from];
  if ("ip" in own) return true;
  const about = policies.filter(
    ({ metadata, spec }) =>
      metadata.namespace === own.namespace && spec.policyTypes.includes(type) && matches(spec.podSelector, own.labels),
  );
  if (about.length === 0) return true;
  return about.some(({ metadata, spec }) => {
    const rules = (type === "Egress" ? spec.egress : spec.ingress) ?? [];
    return rules.some((rule) => {
      const peers = type === "Egress" ? rule.to : rule.from;
      const isPeer = peers === undefined || peers.some((peer) => matchesPeer(peer, other, metadata.namespace));
      return isPeer && (rule.ports === undefined || rule.ports.some((each) => matchesPort(each, { to, port, protocol })));
    });
  });
}

function matchesPeer(peer: Peer, end: End, namespace: string | undefined): boolean {
  known(peer, ["podSelector", "namespaceSelector", "ipBlock"]);
  if (peer.ipBlock !== undefined) return "ip" in end && isWithin(end.ip, peer.ipBlock);
  if ("ip" in end) return false;
  const inNamespace =
    peer.namespaceSelector === undefined ? end.namespace === namespace : matches(peer.namespaceSelector, end.namespaceLabels);
  return inNamespace && (peer.podSelector === undefined || matches(peer.podSelector, end.labels));
}

function isWithin(ip: string, block: { readonly cidr: string }): boolean {
  known(block, ["cidr"]);
  const [network = "", prefix] = block.cidr.split("/");
  const list = new BlockList();
  list.addSubnet(network, Number(prefix), "ipv4");
  return list.check(ip, "ipv4");
}

function matchesPort(rule: PolicyPort, { to, port, protocol }: Pick<Connection, "to" | "port" | "protocol">): boolean {
  known(rule, ["port", "protocol"]);
  const number = typeof rule.port === "number" ? rule.port : "ip" in to ? undefined : to.ports[rule.port];
  return number === port && rule.protocol === protocol;
}

export function matches(selector: Selector, labels: Labels): boolean {
  known(selector, ["matchLabels", "matchExpressions"]);
  const wanted = Object.entries(selector.matchLabels ?? {}).every(([key, value]) => labels[key] === value);
  return (
    wanted &&
    (selector.matchExpressions ?? []).every(({ key, operator, values }) => {
      if (operator !== "In") throw new Error(`operator ${operator} of a selector is not known here`);
      const value = labels[key];
      return value !== undefined && (values ?? []).includes(value);
    })
  );
}

function known(object: object, fields: readonly string[]): void {
  const unknown = Object.keys(object).find((field) => !fields.includes(field));
  if (unknown !== undefined) throw new Error(`field ${unknown} of a policy is not known here`);
}
