// Reading
export { ConfigError, loadConfig, type ConfigSources } from "./load-config.js";
export { loadServiceConfig, type ProcessLike } from "./service-config.js";
export { redactedConfigYaml, configJsonSchema } from "./print-config.js";

// Settings that several services have
export { checkKubernetesSettings, type KubernetesSettings, kubernetesSettings } from "./kubernetes-settings.js";
export { loopbackUnlessAuthenticated, openToNetwork } from "./open-listener.js";
export {
  blobStoreSettings,
  databaseSettings,
  drainSettings,
  httpPolicySettings,
  isLoopback,
  leaderElectionSettings,
  logLevel,
  natsSettings,
  natsStreamSettings,
  opsSettings,
  port,
  presigningBlobStoreSettings,
  resultLimitSettings,
  tracingSettings,
} from "./settings.js";
