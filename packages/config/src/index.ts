// Reading
export { ConfigError, loadConfig, type ConfigSources } from "./load.js";
export { serviceConfig, type ConfigProcess } from "./service-config.js";
export { configText, schemaText } from "./print.js";

// Settings that several services have
export { checkKubernetesAccess, type KubernetesAccess, kubernetesAccess } from "./kubernetes-access.js";
export {
  blobStoreSettings,
  databaseSettings,
  drainSettings,
  httpPolicySettings,
  isLoopback,
  logLevel,
  natsSettings,
  opsSettings,
  port,
  signingBlobStoreSettings,
  tracingSettings,
} from "./settings.js";
