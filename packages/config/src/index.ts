// Reading
export { ConfigError, loadConfig, type ConfigSources } from "./load-config.js";
export { loadServiceConfig, type ProcessLike } from "./service-config.js";
export { redactedConfigYaml, configJsonSchema } from "./print-config.js";

// Settings that several services have
export { isLoopbackHost as isLoopback } from "@flyte-ts/http-policy";
export { checkKubernetesSettings, type KubernetesSettings, kubernetesSettings } from "./kubernetes-settings.js";
export {
  blobStoreSettings,
  databaseSettings,
  drainSettings,
  httpPolicySettings,
  logLevel,
  natsSettings,
  opsSettings,
  port,
  presigningBlobStoreSettings,
  tracingSettings,
} from "./settings.js";
