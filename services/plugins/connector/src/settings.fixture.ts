import { connectorConfig, type ConnectorServiceConfig } from "./config.js";

type Given = Partial<Omit<ConnectorServiceConfig, "endpoints">> & { readonly endpoints?: readonly object[] };

/** Settings of a test: the defaults without a start delay, overridden by `given`. */
export function testSettings(given: Given = {}): ConnectorServiceConfig {
  const endpoints = given.endpoints ?? [{ name: "toys", address: "toys:8000" }];
  const discovery = { startDelayMs: 0, ...given.discovery };
  return connectorConfig.parse({ ...given, endpoints, discovery });
}
