// Tasks
export { compileTask, type TaskCompilation } from "./task/compile-task.js";

// Workflows
export { compileWorkflow } from "./workflow/compile-workflow.js";
export { closureExpansion } from "./references/expansion.js";
export { compileDependencies, type CompileDependencies } from "./references/dependencies.js";
export { type LaunchPlanInterface, type WorkflowCompilation, type WorkflowSource } from "./workflow/source.js";

// Errors
export { formatCompileErrors, type CompileError, type CompileErrorCode, type CompileErrors } from "./error/compile-error.js";
