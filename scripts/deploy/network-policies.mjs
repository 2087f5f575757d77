// Network policies from what services require and connect to.
import { commented } from "./yaml.mjs";

const NAME = "app.kubernetes.io/name";
const ALL = { matchLabels: { "app.kubernetes.io/part-of": "flyte-ts" } };

/**
 * Policies for destinations outside of flyte-ts, by the usual ports. Each applies to services that
 * connect to one of the kinds of peers (packages/service-manifest/src/network-peers.ts). A site
 * that knows the addresses adds `to`.
 */
const DESTINATIONS = [
  { name: "database", peers: ["database"], ports: [5432] },
  { name: "bus", peers: ["bus"], ports: [4222] },
  {
    name: "https",
    peers: ["https", "kubernetes", "blobs", "cloudBlobs", "remoteAdmin", "remoteCatalog", "hive", "trino"],
    ports: [443],
    comment: "Blob stores, Kubernetes APIs, identity providers, receivers of webhooks; from a data plane, the control plane.",
  },
  {
    name: "kubernetes",
    peers: ["kubernetes"],
    ports: [6443],
    comment: "Kubernetes APIs by the port of their machines: a policy applies to the end of a connection.",
  },
  { name: "blobs", peers: ["blobs"], ports: [9000], comment: "S3 services with a port of their own." },
  {
    name: "metadata",
    peers: ["blobs"],
    ports: [80, 988],
    to: [{ ipBlock: { cidr: "169.254.0.0/16" } }],
    comment: "Clouds serve the credentials of pods' service accounts at link-local addresses.",
  },
  { name: "traces", peers: ["traces"], ports: [4318], comment: "OpenTelemetry receivers." },
  { name: "mail", peers: ["mail"], ports: [465, 587], comment: "Mail servers for notifications." },
  { name: "connectors", peers: ["connectors"], ports: [8000], comment: "Flyte connectors." },
  { name: "hive", peers: ["hive"], ports: [10_001], comment: "HiveServer2 over HTTP." },
  { name: "trino", peers: ["trino"], ports: [8080, 8443], comment: "Trino over HTTP and HTTPS." },
  {
    name: "control-plane",
    peers: ["remoteAdmin", "remoteCatalog"],
    ports: [81, 89, 8089],
    comment: "The control plane in another cluster without TLS in front: by the ports of its Services or of its pods.",
  },
];

/**
 * Lists the NetworkPolicies of all deployed services. Optional services are in them too: a policy
 * without pods does nothing.
 */
export function networkPolicies({ services, model }) {
  const callers = (requirement) => services.filter(({ requires }) => requires[requirement] !== undefined);
  return [
    commented(
      "Denies all traffic of flyte-ts but for the following: `flyte-to-X` lists who reaches X, `flyte-reaches-X` who may go there.\nControl plane and data plane share the policies; each applies to the pods that exist.\nconformance/src/deploy/network/network.test.ts compares them with the settings of the services.",
      policy("nothing-else", { podSelector: ALL, policyTypes: ["Ingress", "Egress"] }),
    ),
    commented(
      "Clients, ingress controllers, tasks and data planes elsewhere.",
      ingress("to-admin", { podSelector: selector(["flyteadmin"]), rules: [{ ports: named(["http", "grpc"]) }] }),
    ),
    ingress("to-datacatalog", {
      podSelector: selector(["datacatalog"]),
      rules: [{ from: [{ podSelector: selector(namesOf(callers("catalog"))) }], ports: named(["grpc"]) }],
    }),
    commented(
      "Kubelets read health; policies do not apply to them. Metrics are read from namespaces with this label.",
      ingress("to-metrics", {
        podSelector: ALL,
        rules: [{ from: [{ namespaceSelector: { matchLabels: { "flyte-ts/metrics": "allowed" } } }], ports: named(["ops"]) }],
      }),
    ),
    egress("reaches-names", {
      podSelector: ALL,
      rules: [
        {
          ports: [
            { port: 53, protocol: "UDP" },
            { port: 53, protocol: "TCP" },
          ],
        },
      ],
    }),
    commented(
      "By its pods, whatever port its Service has.",
      egress("reaches-admin", {
        podSelector: selector(namesOf(callers("admin"))),
        rules: [{ to: pods("flyteadmin"), ports: tcp([8089]) }],
      }),
    ),
    egress("reaches-datacatalog", {
      podSelector: selector(namesOf(callers("catalog"))),
      rules: [{ to: pods("datacatalog"), ports: tcp([8089]) }],
    }),
    ...DESTINATIONS.flatMap((destination) => destinationPolicy(destination, { services, model })),
  ];
}

function destinationPolicy({ name, peers, ports, to, comment }, { services, model }) {
  const clients = services.filter((service) => Object.values(model.connectionsOf(service)).some((peer) => peers.includes(peer)));
  if (clients.length === 0) return [];
  const object = egress(`reaches-${name}`, {
    podSelector: selector(namesOf(clients)),
    rules: [{ ...(to !== undefined && { to }), ports: tcp(ports) }],
  });
  return [comment === undefined ? object : commented(comment, object)];
}

const namesOf = (services) => services.map(({ names }) => names.kubernetes);
const tcp = (ports) => ports.map((port) => ({ port, protocol: "TCP" }));
const named = tcp;
const pods = (name) => [{ podSelector: selector([name]) }];

function selector(names) {
  if (names.length === 1) return { matchLabels: { [NAME]: names[0] } };
  return { matchExpressions: [{ key: NAME, operator: "In", values: names }] };
}

function policy(name, spec) {
  return { apiVersion: "networking.k8s.io/v1", kind: "NetworkPolicy", metadata: { name: `flyte-${name}` }, spec };
}

function ingress(name, { podSelector, rules }) {
  return policy(name, { podSelector, policyTypes: ["Ingress"], ingress: rules });
}

function egress(name, { podSelector, rules }) {
  return policy(name, { podSelector, policyTypes: ["Egress"], egress: rules });
}
