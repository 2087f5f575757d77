// The stack
export { extraNames, installExtra } from "./python/extras.js";
export { type PyflyteTarget, type Stack, type StackOptions, startStack } from "./stack.js";
export { type StackConfig, stackConfigSchema } from "./stack-config.js";
export { StackError } from "./stack-error.js";
export { type Progress, seconds, terminalProgress } from "./progress.js";

// Its state and addresses
export { repositoryRoot, type StackPaths, stackPaths } from "./state/paths.js";
export { consoleFolder } from "./state/console-folder.js";
export { createStackDirs } from "./state/stack-dirs.js";
export { shellQuote } from "./state/client-env.js";
export { displayAddress } from "./state/display-address.js";

// Plugin services that run beside it
export { externalPluginManifests, readExternalPlugins, writeExternalPlugins } from "./external-plugins/external-plugins.js";
export { externalPluginSettingsFile } from "./external-plugins/grant-access.js";
export { stackServices } from "./service/stack-services.js";
export { isStackRunning } from "./state/stack-lock.js";

// Sign-in of its clients
export {
  clientSecretOf,
  FLYTEKIT_CLIENT_ID,
  flytekitEnv,
  hasClientSecret,
  passwordFile,
  type StackSignIn,
} from "./service/sign-in.js";

// Python packages of its tasks
export { ensurePythonEnvironment, PythonEnvironmentError } from "./python/python-environment.js";
export { installPackages, listPackages, type StackPython, uninstallPackages } from "./python/stack-packages.js";
