import { lazy } from "react";

// Views of an execution that load when they are opened: the first rows of the timeline wait for
// none of them.

export const Errors = lazy(() => import("./errors.js").then((module) => ({ default: module.Errors })));
export const GraphTab = lazy(() => import("./graph/graph-tab.js").then((module) => ({ default: module.GraphTab })));
export const InputsAndOutputs = lazy(() => import("./inputs-and-outputs.js").then((module) => ({ default: module.InputsAndOutputs })));
export const NodePane = lazy(() => import("./timeline/node-pane.js").then((module) => ({ default: module.NodePane })));
export const Settings = lazy(() => import("./settings.js").then((module) => ({ default: module.Settings })));
