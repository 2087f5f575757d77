/** Address in the form that the gRPC client takes. */
export interface Target {
  /** `host:port` for plaintext, `https://host:port` for TLS. */
  readonly endpoint: string;
}

const HOST_AND_PORT = /^(?:\[[0-9a-f:.]+\]|[a-z0-9_.-]+):\d{1,5}$/i;

/**
 * Parses an address of the configuration; undefined when it is none. A `k8s://` address is the DNS
 * name of a Service: headless Services resolve to all pods, over which calls are spread.
 */
export function parseTarget(address: string): Target | undefined {
  const [, scheme = "", rest = ""] = /^(?:([a-z0-9]+):\/\/)?(.*)$/i.exec(address) ?? [];
  const hostAndPort = rest.replace(/^\//, "").replace(/\/$/, "");
  if (!HOST_AND_PORT.test(hostAndPort)) return undefined;
  switch (scheme.toLowerCase()) {
    case "":
    case "http":
      return rest.startsWith("/") ? undefined : { endpoint: hostAndPort };
    case "dns":
      // A host before the slash would name a DNS server.
      return rest.startsWith("/") ? { endpoint: hostAndPort } : undefined;
    case "https":
      return rest.startsWith("/") ? undefined : { endpoint: `https://${hostAndPort}` };
    case "k8s":
      return kubernetesService(hostAndPort);
    default:
      return undefined;
  }
}

function kubernetesService(hostAndPort: string): Target | undefined {
  const [, service = "", namespace = "", port = ""] =
    /^([a-z0-9-]+)\.([a-z0-9-]+)(?:\.svc(?:\.[a-z0-9.-]+)?)?:(\d+)$/i.exec(hostAndPort) ?? [];
  return service === "" ? undefined : { endpoint: `${service}.${namespace}.svc:${port}` };
}
