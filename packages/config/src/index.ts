// Reading
export { ConfigError, loadConfig, type ConfigSources } from "./load.js";
export { serviceConfig, type ConfigProcess } from "./service-config.js";
export { configText, schemaText } from "./print.js";

// Settings that several services have
export { checkKubernetesAccess, type KubernetesAccess, kubernetesAccess } from "./kubernetes-access.js";
export {
  databaseSettings,
  drainSettings,
  isLoopback,
  logLevel,
  natsSettings,
  opsSettings,
  port,
  s3Fields,
  s3Settings,
  tracingSettings,
} from "./settings.js";
