// Tasks
export { compileTask, type TaskCompilation } from "./task/compile-task.js";

// Workflows
export { compileWorkflow } from "./workflow/compile-workflow.js";
export { closureExpansion } from "./workflow/expansion.js";
export { requirementsOf, type Requirements } from "./workflow/requirements.js";
export { type LaunchPlanInterface, type WorkflowCompilation, type WorkflowSource } from "./workflow/source.js";

// Errors
export { formatCompileErrors, type CompileError, type CompileErrorCode, type CompileErrors } from "./error/compile-error.js";
