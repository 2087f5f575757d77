export { checkKubernetesAccess, type KubernetesAccess, kubernetesAccess } from "./kubernetes-access.js";
export { ConfigError, loadConfig, type ConfigSources } from "./load.js";
